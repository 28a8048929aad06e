-- malformed: syntax error
Dear device, please send everything
