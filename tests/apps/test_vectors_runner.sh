#!/bin/sh
# Tests of sotto-vectors itself: what it must not let pass, and what it must not trip over.
#   test_vectors_runner.sh PROGRAM OWN_VECTORS
set -u
. "$(dirname "$0")/../support/program.sh"
own=$2

# ends_with EXIT_CODE LAST_LINE: runs the program over the test's folder.
ends_with() {
    "$program" -v "$dir" >"$out" 2>&1
    code=$?
    [ "$code" -eq "$1" ] || complain "exit code $code, not $1"
    last=$(tail -n 1 "$out")
    [ "$last" = "$2" ] || complain "last line '$last', not '$2'"
}

turboshake() {
    printf '[{"alg": "TurboSHAKE128", "D": "1f", "L": 32, "msg": "", "out": "%s"}]\n' "$1"
}

right=1e415f1c5983aff2169217277d17bb538cd945a397ddec541f1ce41af2c1b74c
wrong=1e415f1c5983aff2169217277d17bb538cd945a397ddec541f1ce41af2c1b74d

begin an_empty_folder_is_no_success
ends_with 1 "0 passed, 0 failed, 0 skipped"

begin a_missing_folder_is_wrong_usage
"$program" "$dir/none" >"$out" 2>&1
[ $? -eq 2 ] || complain "exit code is not 2"

begin no_folder_is_wrong_usage
"$program" >"$out" 2>&1
[ $? -eq 2 ] || complain "exit code is not 2"
"$program" --no-such-option "$dir" >"$out" 2>&1
[ $? -eq 2 ] || complain "exit code is not 2"

begin help_is_no_error
"$program" --help >"$out" 2>&1 || complain "exit code is not 0"
says "usage: sotto-vectors"

begin a_right_vector_passes
turboshake $right >"$dir/a.json"
ends_with 0 "1 passed, 0 failed, 0 skipped"

begin only_json_counts
turboshake $right >"$dir/a.json"
turboshake $wrong >"$dir/a.txt"
echo text >"$dir/README.md"
ends_with 0 "1 passed, 0 failed, 0 skipped"

begin folders_are_walked_to_the_bottom
mkdir -p "$dir/x/y"
turboshake $right >"$dir/x/y/a.json"
turboshake $right >"$dir/b.json"
ends_with 0 "2 passed, 0 failed, 0 skipped"

begin a_tampered_vector_fails
turboshake $right >"$dir/a.json"
turboshake $wrong >"$dir/b.json"
ends_with 1 "1 passed, 1 failed, 0 skipped"
says "b.json.*out.*byte 31"

begin an_object_without_an_array_is_one_vector
turboshake $right | tr -d '[]' >"$dir/a.json"
ends_with 0 "1 passed, 0 failed, 0 skipped"

begin an_unknown_file_is_skipped_by_name
turboshake $right >"$dir/a.json"
echo '{"x": 1}' >"$dir/strange.json"
echo '{"x":' >"$dir/stranger.json"
ends_with 0 "1 passed, 0 failed, 2 skipped"
says "strange.json"
says "stranger.json"

begin other_standards_are_skipped_with_a_reason
turboshake $right >"$dir/a.json"
for file in Poplar1_0 Poplar1_bad_corr_inner IdpfBBCGGI21_0 MasticCount_0; do
    echo '{}' >"$dir/$file.json"
done
ends_with 0 "1 passed, 0 failed, 4 skipped"
says "Poplar1_0.json: Poplar1 is not implemented"
says "MasticCount_0.json: Mastic is not implemented"

begin nothing_but_skips_is_no_success
echo '{"x": 1}' >"$dir/strange.json"
ends_with 1 "0 passed, 0 failed, 1 skipped"

begin a_known_name_with_nothing_in_it_fails
for file in Prio3Count_x Prio3Sum Prio3HigherDegree_7 XofTurboShake128 XofHmacSha256Aes128_a Pine64_x; do
    echo '{}' >"$dir/$file.json"
done
ends_with 1 "0 passed, 6 failed, 0 skipped"

begin a_file_without_operations_fails
echo '{"shares": 2, "ctx": "", "verify_key": "", "reports": [], "operations": []}' >"$dir/Prio3Count_x.json"
ends_with 1 "0 passed, 1 failed, 0 skipped"
says "nothing to compare"

begin a_known_name_that_is_not_json_fails
echo '{"shares": 2,' >"$dir/Prio3Count_x.json"
echo '[{"alg": "TurboSHAKE128"' >"$dir/a.json"
echo '[]' >"$dir/Prio3Sum_x.json"
echo '12' >"$dir/XofTurboShake128.json"
: >"$dir/Prio3SumVec_x.json"
ends_with 1 "0 passed, 5 failed, 0 skipped"
says "Prio3Count_x.json: not JSON"

begin a_wrong_type_is_named
echo '{"shares": "two", "reports": [], "operations": []}' >"$dir/Prio3Count_a.json"
echo '{"shares": 2, "ctx": 7, "reports": [], "operations": []}' >"$dir/Prio3Count_b.json"
echo '{"shares": 2, "ctx": "0g", "reports": [], "operations": []}' >"$dir/Prio3Count_c.json"
echo '{"shares": 2, "ctx": "", "verify_key": "", "reports": {}, "operations": []}' >"$dir/Prio3Count_d.json"
echo '{"shares": 2, "ctx": "", "verify_key": "", "reports": [], "operations": [7]}' >"$dir/Prio3Count_e.json"
echo '{"shares": 256, "reports": [], "operations": []}' >"$dir/Prio3Count_f.json"
echo '{"shares": 2, "shares": 3}' >"$dir/Prio3Count_g.json"
ends_with 1 "0 passed, 7 failed, 0 skipped"
says "Prio3Count_a.json: shares:"
says "Prio3Count_b.json: ctx:"
says "Prio3Count_c.json: ctx:"
says "Prio3Count_d.json: reports:"
says "Prio3Count_e.json: operations\[0\]"
says "Prio3Count_f.json: shares:"
says "Prio3Count_g.json: not JSON"

begin integers_of_any_length_are_read
cat >"$dir/Prio3Sum_a.json" <<END
{"shares": 18446744073709551615, "x": 340282366920938463463374607431768211456, "y": -99999999999999999999}
END
echo '{"shares": 12345678901234567890.5e+12345678901234567890123}' >"$dir/Prio3Sum_b.json"
echo '{"shares": 340282366920938463463374607431768211456}' >"$dir/Prio3Sum_c.json"
ends_with 1 "0 passed, 3 failed, 0 skipped"
says "Prio3Sum_a.json: shares: not 2 to 255"
says "Prio3Sum_c.json: shares: more than 128 bits"

begin an_absurd_length_is_refused_at_once
cat >"$dir/XofTurboShake128_rejection.json" <<END
{"field": "Field64", "seed": "$right", "dst": "", "binder": "", "length": 18446744073709551615,
 "last_element": "1", "rejected_draws": 0}
END
ends_with 1 "0 passed, 1 failed, 0 skipped"
says "length:"

begin a_broken_entry_spoils_only_itself
printf '[7, {"alg": "TurboSHAKE128", "D": "80", "L": 1, "msg": "", "out": "00"}, %s, %s]' \
    '{"alg": "TurboSHAKE512", "D": "1f"}' "$(turboshake $right | tr -d '[]')" >"$dir/a.json"
ends_with 1 "1 passed, 2 failed, 1 skipped"
says "a.json \[1\]: D:"

begin json_has_one_object_for_each_count
turboshake $right >"$dir/a.json"
echo '{}' >"$dir/\"b.json"
"$program" --json "$dir" >"$out" 2>&1 || complain "exit code is not 0"
says '^{"file":".*/a.json","item":"0","verdict":"passed","reason":""}$'
says '^{"file":".*/\\"b.json","item":"","verdict":"skipped","reason":"..*"}$'
[ "$(tail -n 1 "$out")" = "1 passed, 0 failed, 1 skipped" ] || complain "no summary"

# From here on whole files of the tree's own vectors are changed in one place, which must be noticed.

# tamper NAME FILE EXPRESSION: FILE of the own vectors after sed EXPRESSION must fail.
tamper() {
    begin "$1"
    copy=$dir/$(basename "$2")
    sed "$3" "$own/$2" >"$copy"
    cmp -s "$own/$2" "$copy" && complain "the expression changes nothing"
    "$program" -v "$dir" >"$out" 2>&1
    [ $? -eq 1 ] || complain "is not noticed"
    tail -n 1 "$out" | grep -q ' 0 failed' && complain "is not noticed"
}

# first PATTERN REPLACEMENT: an expression for the first line that matches.
first() {
    printf '0,/%s/s/%s/%s/' "$1" "$1" "$2"
}

good=vdaf-20/Prio3Histogram_odd.json
for key in nonce rand public_share ctx verify_key; do
    tamper "a_changed_${key}_is_noticed" $good "$(first "\"$key\": \"..." "\"$key\": \"fff")"
done
for key in input_shares out_shares agg_shares verifier_messages; do
    tamper "changed_${key}_are_noticed" $good "/\"$key\"/{n;s/\"..../\"0000/}"
done
tamper changed_verifier_shares_are_noticed $good '/"verifier_shares"/{n;n;s/"..../"0000/}'
pine=pine-20/Pine64_dense.json
for key in nonce rand public_share ctx verify_key; do
    tamper "a_changed_${key}_of_pine_is_noticed" $pine "$(first "\"$key\": \"..." "\"$key\": \"fff")"
done
for key in input_shares agg_shares prep_messages; do
    tamper "changed_${key}_of_pine_are_noticed" $pine "/\"$key\"/{n;s/\"..../\"0000/}"
done
tamper a_changed_bound_of_pine_is_noticed $pine 's/"l2_norm_bound": 64/"l2_norm_bound": 63/'
tamper a_report_of_pine_that_should_be_rejected_is_noticed $pine "$(first '"nonce"' '"rejected": true, "nonce"')"
tamper a_changed_result_is_noticed $good '/"agg_result"/{n;s/[0-9][0-9]*/77/}'
tamper a_changed_measurement_is_noticed $good "$(first '"measurement": 10' '"measurement": 9')"
tamper a_changed_parameter_is_noticed $good 's/"chunk_length": 3/"chunk_length": 4/'
tamper a_step_that_should_fail_but_succeeds_is_noticed $good \
    "$(first '"success": true' '"success": false')"
for file in bad_jr_blind bad_element bad_verifier_message bad_verifier_len; do
    tamper "a_refusal_that_should_be_none_is_noticed_in_$file" "vdaf-20/Prio3Histogram_$file.json" \
        's/"success": false/"success": true/'
done
# The report is refused at verify_init: a file that expects it one step later is wrong.
tamper a_refusal_that_comes_early_is_noticed vdaf-20/Prio3Histogram_bad_element.json \
    '/"success": false/s/false/true/; /verifier_shares_to_message/{n;n;n;s/true/false/}'
tamper an_operation_of_another_name_is_noticed $good "$(first '"unshard"' '"unshart"')"
tamper an_operation_on_no_report_is_noticed $good "$(first '"report_index": 1' '"report_index": 99')"
tamper a_second_round_is_noticed $good "$(first '"round": 0' '"round": 1')"
for key in enc pkRm skRm ikmR ikmE pkEm skEm info shared_secret key_schedule_context secret key base_nonce \
    exporter_secret ct pt nonce exported_value; do
    tamper "a_changed_hpke_${key}_is_noticed" hpke-rfc9180/base_x25519.json \
        "$(first "\"$key\": \"...." "\"$key\": \"0000")"
done
for key in derived_seed expanded_vec_field128 seed dst binder; do
    tamper "a_changed_xof_${key}_is_noticed" xof-20/XofHmacSha256Aes128_long.json \
        "s/\"$key\": \"..../\"$key\": \"0000/"
done

task=dap-18/task_sum_vec_leader_selected_chacha.json
for key in task_configuration task_id vdaf_context verify_key leader_hpke_config_list sk pk hpke_config report_id rand \
    leader_hpke_ephemeral_sk helper_hpke_ephemeral_sk public_share leader_input_share helper_input_share \
    input_share_aad report leader_ping_pong upload_request batch_id aggregation_job_init_req \
    aggregation_job_resp collection_job_req leader_agg_share helper_agg_share aggregate_share_req aggregate_share_aad \
    leader_agg_share_hpke_ephemeral_sk helper_agg_share_hpke_ephemeral_sk aggregate_share collection_job_resp \
    checksum; do
    tamper "a_changed_dap_${key}_is_noticed" $task "$(first "\"$key\": \"....." "\"$key\": \"17171")"
done
tamper a_changed_dap_result_is_noticed $task '/"agg_result"/{n;s/[0-9][0-9]*/77/}'
tamper a_changed_dap_time_is_noticed $task "$(first '"time": 48' '"time": 47')"
tamper a_changed_report_count_is_noticed $task 's/"report_count": 4/"report_count": 5/'
tamper a_changed_verdict_is_noticed $task "$(first '"accepted": false' '"accepted": true')"
tamper a_changed_measurement_of_a_task_is_noticed $task '/"measurement"/{n;n;s/[0-9]/9/}'
tamper a_message_that_should_be_refused_but_is_not_is_noticed dap-18/messages.json \
    "$(first '"type": "AggregateShare"' '"expect": "reject", "type": "AggregateShare"')"
tamper a_message_that_is_refused_but_should_not_be_is_noticed dap-18/hostile.json \
    "$(first '"expect": "reject"' '"expect": "accept"')"

begin proofs_of_subtrees_are_checked
python3 - "$dir" <<'END' || complain "no proofs were made"
import base64, hashlib, json, sys
leaf = lambda i: hashlib.sha256(b"\0" + bytes([i])).digest()
node = lambda a, b: hashlib.sha256(b"\1" + a + b).digest()
text = lambda x: base64.b64encode(x).decode()
l = [leaf(i) for i in range(7)]
left, right = node(node(l[0], l[1]), node(l[2], l[3])), node(l[4], l[5])
root = node(left, node(right, l[6]))
item = lambda proof, **more: dict(more, proof=[text(p) for p in proof])
# Leaves 4 to 7 are no node of the tree of 7; 2 and 3 are one.
part = dict(start=4, end=6, size=7, root1=text(right), root2=text(root))
last = dict(start=4, end=7, size=7, root1=text(node(right, l[6])), root2=text(root))
good = [item([l[6], left], **part), item([left], **last), item([l[4]], leafIdx=5, start=4, end=6, root=text(right), leafHash=text(l[5]))]
bad = [item([left, l[6]], **part), item([l[6], left, left], **part), item([l[6]], **part), item([left], **dict(last, start=3)),
       item([left], **dict(last, end=8)), item([l[4]], leafIdx=6, start=4, end=6, root=text(right), leafHash=text(l[5]))]
json.dump([dict(x, wantErr=False) for x in good] + [dict(x, wantErr=True) for x in bad], open(sys.argv[1] + "/a.json", "w"))
json.dump([dict(x, wantErr=False) for x in bad], open(sys.argv[1] + "/b.json", "w"))
END
ends_with 1 "9 passed, 6 failed, 0 skipped"

begin batches_of_tokens_are_checked
python3 - "$dir" "$own/tokens/type2.json" <<'END' || complain "no batch was made"
import json, sys
length = lambda n: bytes([n]) if n < 64 else bytes([64 | n >> 8, n & 255])
def batch(tokens):
    asked = b"".join(bytes.fromhex(t["token_request"]) for t in tokens)
    answered = b"".join(b"\1\0\2" + bytes.fromhex(t["token_response"]) for t in tokens)
    return {"issuance": tokens, "token_request": (length(len(asked)) + asked).hex(), "token_response": (length(len(answered)) + answered).hex()}
tokens = [t for t in json.load(open(sys.argv[2])) if t.get("valid") is not False][:1] * 2
whole = batch(tokens)
other = dict(tokens[0], nonce="00" * 32)
changed = dict(whole, issuance=[tokens[0], other])
fewer = dict(whole, issuance=tokens[:1])
longer = dict(whole, token_request=whole["token_request"] + "00")
absent = dict(whole, token_response=whole["token_response"].replace("010002", "000002", 1))
json.dump([whole] + [dict(x, valid=False) for x in (changed, fewer, longer, absent)], open(sys.argv[1] + "/a.json", "w"))
json.dump([changed], open(sys.argv[1] + "/b.json", "w"))
END
ends_with 1 "5 passed, 1 failed, 0 skipped"

begin a_dap_type_of_no_name_is_skipped
echo '[{"type": "Strange", "hex": ""}, {"type": "Role", "hex": "02"}, {"type": "Role", "hex": "04"}]' >"$dir/a.json"
ends_with 1 "1 passed, 1 failed, 1 skipped"

begin the_own_vectors_are_what_the_generator_writes
"$program" --generate "$dir" >"$out" 2>&1 || complain "cannot write"
for file in "$dir"/*/*.json; do
    cmp "$file" "$own/${file#"$dir/"}" >"$out" 2>&1 || complain "they differ"
done

begin the_version_is_told
expect 0 "sotto-vectors 0." --version

finish
