-- denied: keyboard_ngrams.secret
SELECT age FROM keyboard_ngrams ORDER BY secret
