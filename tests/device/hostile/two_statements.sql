-- denied: more than one statement
SELECT age FROM keyboard_ngrams; SELECT ngram FROM keyboard_ngrams
