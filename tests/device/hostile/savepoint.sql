-- denied: a transaction
SAVEPOINT x
