-- denied: keyboard_ngrams.secret
SELECT/*age*/secret--age
FROM/**/keyboard_ngrams
