"""The way out of the database: COPY BINARY into numpy, then one scikit-learn
logistic regression.  Prints two times in milliseconds: of the copy, and in all.
Importing and connecting are not counted."""
import io
import sys
import time

import numpy
import psycopg2
from sklearn.linear_model import LogisticRegression

connection = psycopg2.connect(dbname="bench")
start = time.perf_counter()
columns = ", ".join("f%d" % i for i in range(1, 21))
wire = io.BytesIO()
connection.cursor().copy_expert(
    "COPY (SELECT y, %s FROM %s) TO STDOUT (FORMAT binary)" % (columns, sys.argv[1]), wire)
# 19 bytes of header, 2 of trailer; every field carries its length
row = numpy.dtype([("fields", ">i2"), ("ylen", ">i4"), ("y", "?"),
                   ("f", [("len", ">i4"), ("value", ">f8")], 20)])
bytes_ = wire.getbuffer()
rows = numpy.frombuffer(bytes_, dtype=row, offset=19, count=(len(bytes_) - 21) // row.itemsize)
x = rows["f"]["value"].astype("f8")
y = rows["y"]
copied = time.perf_counter()
model = LogisticRegression().fit(x, y)
end = time.perf_counter()
assert model.score(x[:1000], y[:1000]) > 0.7
print("%.3f %.3f" % ((copied - start) * 1e3, (end - start) * 1e3))
