-- denied: keyboard_ngrams.secret
SELECT age FROM keyboard_ngrams WHERE secret = 'x'
