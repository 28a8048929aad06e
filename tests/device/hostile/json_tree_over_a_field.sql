-- refused
SELECT j.value FROM keyboard_ngrams k, json_tree(k.ngram) j
