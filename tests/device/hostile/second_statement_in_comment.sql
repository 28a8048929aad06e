-- denied: more than one statement
SELECT age FROM keyboard_ngrams; /* ; */ -- x
