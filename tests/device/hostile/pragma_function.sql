-- refused
SELECT name FROM pragma_table_info('keyboard_ngrams')
