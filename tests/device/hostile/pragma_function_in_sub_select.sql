-- refused
SELECT age FROM keyboard_ngrams WHERE ngram IN (SELECT name FROM pragma_database_list)
