-- denied: keyboard_ngrams.secret
SELECT sum(age) OVER w FROM keyboard_ngrams WINDOW w AS (ORDER BY secret)
