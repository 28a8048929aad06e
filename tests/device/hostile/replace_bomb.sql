-- denied: replace
SELECT replace(replace(ngram, '', 'xxxxxxxx'), 'x', 'xxxxxxxx') FROM keyboard_ngrams
