-- denied: keyboard_ngrams.secret
SELECT "secret" FROM "keyboard_ngrams"
