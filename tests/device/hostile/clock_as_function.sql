-- denied: strftime
SELECT strftime('%s', 'now')
