-- denied: raw bytes
SELECT x'00ff', age FROM keyboard_ngrams
