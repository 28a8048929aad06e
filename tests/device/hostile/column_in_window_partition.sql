-- denied: keyboard_ngrams.secret
SELECT sum(age) OVER (PARTITION BY secret) FROM keyboard_ngrams
