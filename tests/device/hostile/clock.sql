-- denied: current_timestamp
SELECT CURRENT_TIMESTAMP
