-- denied: keyboard_ngrams.*
SELECT 1 FROM keyboard_ngrams
