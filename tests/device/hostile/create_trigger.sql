-- denied: not a query
CREATE TRIGGER x AFTER INSERT ON keyboard_ngrams BEGIN SELECT 1; END
