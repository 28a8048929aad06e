-- denied: keyboard_ngrams.secret
SELECT max(age) FROM keyboard_ngrams GROUP BY ngram HAVING min(secret) > 'a'
