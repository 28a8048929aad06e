-- denied: match
SELECT age FROM keyboard_ngrams WHERE ngram MATCH 'x'
