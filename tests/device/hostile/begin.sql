-- denied: a transaction
BEGIN EXCLUSIVE
