-- denied: group_concat
SELECT group_concat(ngram) FROM keyboard_ngrams
