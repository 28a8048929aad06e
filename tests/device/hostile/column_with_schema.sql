-- denied: keyboard_ngrams.secret
SELECT main.keyboard_ngrams.secret FROM main.keyboard_ngrams
