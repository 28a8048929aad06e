-- refused
CREATE VIRTUAL TABLE temp.x USING fts3tokenize
