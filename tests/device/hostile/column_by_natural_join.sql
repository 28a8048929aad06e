-- denied: use ON
SELECT k.age FROM keyboard_ngrams k NATURAL JOIN health h
