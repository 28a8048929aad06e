-- denied: keyboard_ngrams.secret
SELECT SeCrEt FROM KEYBOARD_NGRAMS
