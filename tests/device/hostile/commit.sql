-- denied: a transaction
COMMIT
