-- What docs/tutorial.md supposes: the extension, three people, and the intern's own table.
CREATE EXTENSION privpred;
GRANT CREATE ON SCHEMA public TO clerk;
CREATE TABLE applicants AS
SELECT 'applicant ' || i AS name, 20 + i AS age, 1500 + 100 * i AS income, 'office' AS job, i % 2 = 0 AS owns_home,
	date '2020-01-01' + i AS customer_since
FROM generate_series(1, 20) i;
GRANT SELECT ON applicants TO intern;
