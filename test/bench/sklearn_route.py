"""The way out of the database: rows into numpy, by COPY BINARY or by fetchall(),
then one scikit-learn logistic regression.  Prints two times in milliseconds:
until the rows are there, and in all.  Importing and connecting are not counted.

usage: sklearn_route.py TABLE copy|fetchall"""
import io
import sys
import time

import numpy
import psycopg2
from sklearn.linear_model import LogisticRegression

QUERY = "SELECT y, %s FROM %s" % (", ".join("f%d" % i for i in range(1, 21)), sys.argv[1])


def copy(cursor):
    wire = io.BytesIO()
    cursor.copy_expert("COPY (%s) TO STDOUT (FORMAT binary)" % QUERY, wire)
    # 19 bytes of header, 2 of trailer; every field carries its length
    row = numpy.dtype([("fields", ">i2"), ("ylen", ">i4"), ("y", "?"),
                       ("f", [("len", ">i4"), ("value", ">f8")], 20)])
    bytes_ = wire.getbuffer()
    rows = numpy.frombuffer(bytes_, dtype=row, offset=19, count=(len(bytes_) - 21) // row.itemsize)
    return rows["f"]["value"].astype("f8"), rows["y"]


def fetchall(cursor):
    cursor.execute(QUERY)
    rows = numpy.array(cursor.fetchall(), dtype="f8")
    return rows[:, 1:], rows[:, 0]


connection = psycopg2.connect(dbname="bench")
start = time.perf_counter()
x, y = {"copy": copy, "fetchall": fetchall}[sys.argv[2]](connection.cursor())
out = time.perf_counter()
model = LogisticRegression().fit(x, y)
end = time.perf_counter()
assert model.score(x[:1000], y[:1000]) > 0.7
print("%.3f %.3f" % ((out - start) * 1e3, (end - start) * 1e3))
