-- denied: keyboard_ngrams.secret
SELECT DISTINCT secret FROM keyboard_ngrams
