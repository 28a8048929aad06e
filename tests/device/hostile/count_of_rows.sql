-- denied: keyboard_ngrams.*
SELECT count(*) FROM keyboard_ngrams
