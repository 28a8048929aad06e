-- denied: keyboard_ngrams.secret
SELECT a FROM (SELECT age AS a, secret FROM keyboard_ngrams)
