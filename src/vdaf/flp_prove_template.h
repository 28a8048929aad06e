/* vdaf/flp_prove_template.h - the client's side of the proof system (draft-irtf-cfrg-vdaf-20, 7.3.3).
 *
 * A proof is the wire seeds and the gadget polynomial's values at powers of w, of order N. A wire's
 * polynomial takes its seed at node 0 and its k-th input at node k of every (N/P)-th power of w.
 */

static size_t prove_scratch(const sotto_circuit *c)
{
    size_t p = wire_count(c), n = gadget_count(c);

    if (c->shape != SOTTO_SHAPE_CHUNKS)
        return (2 * n + p) * sizeof(fe);
    return (SOTTO_POLY_SEVERAL * p + 2 * c->calls + FIELD(several_room)(c->wire_log)) * sizeof(fe) +
           p * sizeof(fe_acc);
}

/* ---- few calls, any degree: evaluate every wire at all N points --------------------------------- */

static void wire_at_all_points(const sotto_circuit *c, fe *all, fe *wire)
{
    const flp_tables *t = c->tables;
    size_t p = wire_count(c), n = gadget_count(c);
    unsigned step_log = c->gadget_log - c->wire_log;

    FIELD(to_coefficients)(wire, c->wire_log, t->wire_roots);
    for (size_t k = 0; k < n; k++)
        all[k] = FIELD(zero)();
    /* Bit-reversed, the first P of N coefficients stand at every (N/P)-th place. */
    for (size_t k = 0; k < p; k++)
        all[k << step_log] = FIELD(mul)(wire[k], t->wire_inv);
    FIELD(to_values)(all, c->gadget_log, t->gadget_roots);
}

static void fill_wire(const sotto_circuit *c, fe *wire, fe seed, const uint8_t *meas)
{
    for (size_t k = 0; k < wire_count(c); k++)
        wire[k] = k == 0 ? seed : k <= c->calls ? get(meas, k - 1) : FIELD(zero)();
}

static fe plain_product(fe a, fe b)
{
    return FIELD(mul)(a, FIELD(to_weight)(b));
}

/* A small integer, perhaps negative, as an element. */
static fe from_signed(int64_t x)
{
    return x < 0 ? FIELD(neg)(FIELD(from)((uint64_t)-x)) : FIELD(from)((uint64_t)x);
}

/* The circuit's polynomial at x, by Horner's rule. */
static fe apply_polynomial(const sotto_circuit *c, fe x)
{
    fe x_weight = FIELD(to_weight)(x);
    fe result = from_signed(c->polynomial[c->degree]);

    for (unsigned d = c->degree; d-- > 0;)
        result = FIELD(add)(FIELD(mul)(result, x_weight), from_signed(c->polynomial[d]));
    return result;
}

static void prove_each(const sotto_circuit *c, uint8_t *values, const uint8_t *meas,
                       const uint8_t *prove_rand, fe *scratch)
{
    fe *all = scratch, *wire = scratch + 2 * gadget_count(c);

    fill_wire(c, wire, get(prove_rand, 0), meas);
    wire_at_all_points(c, all, wire);
    for (size_t k = 0; k < c->gadget_poly_len; k++)
        put(values, k, apply_polynomial(c, all[k]));
}

static void prove_product(const sotto_circuit *c, uint8_t *values, const uint8_t *meas,
                          const uint8_t *prove_rand, fe *scratch)
{
    size_t n = gadget_count(c);
    fe *left = scratch, *right = scratch + n, *wire = scratch + 2 * n;

    fill_wire(c, wire, get(prove_rand, 0), meas);
    wire_at_all_points(c, left, wire);
    fill_wire(c, wire, get(prove_rand, 1), meas);
    wire_at_all_points(c, right, wire);
    for (size_t k = 0; k < c->gadget_poly_len; k++)
        put(values, k, plain_product(left[k], right[k]));
}

/* ---- chunks ------------------------------------------------------------------------------------- */

/* The gadget is sum_j even_j * odd_j, of degree 2(P-1), so N = 2P. A valid measurement makes it vanish
 * at nodes 1 to P-1; what remains is its value at node 0 and at the P odd points. */

static void put_gadget_values(const sotto_circuit *c, uint8_t *values, fe at_seed, const fe *odd)
{
    size_t p = wire_count(c);

    put(values, 0, at_seed);
    for (size_t k = 0; k + 1 < p; k++) {
        put(values, 2 * k + 1, odd[k]);
        put(values, 2 * k + 2, FIELD(zero)());
    }
}

/* What is built for size takes the general way: libsotto-device has no room for both. */
#ifndef __OPTIMIZE_SIZE__

/* Is the polynomial x^2 - x? Then N = 2P, and it vanishes at every node but the first for a valid measurement, too. */
static bool is_bit_check(const sotto_circuit *c)
{
    return c->degree == 2 && c->polynomial[0] == 0 && c->polynomial[1] == -1 &&
           c->polynomial[2] == 1;
}

static fe bit_check(fe x)
{
    return plain_product(x, FIELD(sub)(x, FIELD(one)()));
}

static void prove_bits(const sotto_circuit *c, uint8_t *values, const uint8_t *meas,
                       const uint8_t *prove_rand, fe *wire)
{
    const flp_tables *t = c->tables;
    fe seed = get(prove_rand, 0);

    fill_wire(c, wire, seed, meas);
    FIELD(to_odd_values)(wire, c->wire_log, t->wire_roots, t->odd_shift);
    for (size_t k = 0; k < wire_count(c); k++)
        wire[k] = bit_check(wire[k]);
    put_gadget_values(c, values, bit_check(seed), wire);
}

static void prove_elements(const sotto_circuit *c, uint8_t *values, const uint8_t *meas,
                           const uint8_t *prove_rand, fe *scratch)
{
    if (is_bit_check(c))
        prove_bits(c, values, meas, prove_rand, scratch);
    else
        prove_each(c, values, meas, prove_rand, scratch);
}

#else
#define prove_elements prove_each
#endif

/* Even wires are weights (r^(j+1) where the element is one), odd wires plain (the element minus one). */
static void fill_chunk_wires(const sotto_circuit *c, fe *even, fe *odd, const uint8_t *meas,
                             size_t j, const fe *power)
{
    for (size_t k = 1; k < wire_count(c); k++) {
        size_t index = (k - 1) * c->chunk_length + j;
        uint64_t one = 0;

        even[k] = odd[k] = FIELD(zero)();
        if (k > c->calls)
            continue;
        if (index < c->meas_len)
            one = ~FIELD(equal)(get(meas, index), FIELD(zero)());
        even[k] = FIELD(mask)(power[k - 1], one);
        odd[k] = FIELD(mask)(FIELD(neg)(FIELD(one)()), ~one);
    }
}

/* The wires of place j of every call, the even one and then the odd one. Moves the powers of r on to the next place. */
static void chunk_wires(const sotto_circuit *c, fe *even, const uint8_t *meas,
                        const uint8_t *prove_rand, size_t j, fe *power, const fe *r)
{
    fe *odd = even + wire_count(c);

    even[0] = FIELD(to_weight)(get(prove_rand, 2 * j));
    odd[0] = get(prove_rand, 2 * j + 1);
    fill_chunk_wires(c, even, odd, meas, j, power);
    for (size_t i = 0; i < c->calls; i++)
        power[i] = FIELD(mul)(power[i], r[i]);
}

static void prove_chunks(const sotto_circuit *c, uint8_t *values, const uint8_t *meas,
                         const uint8_t *prove_rand, const uint8_t *joint_rand, fe *scratch)
{
    const flp_tables *t = c->tables;
    size_t p = wire_count(c);
    fe_acc *sums = (fe_acc *)scratch, at_seed = {0};
    fe *wires = (fe *)(sums + p), *power = wires + SOTTO_POLY_SEVERAL * p, *r = power + c->calls;
    fe *room = r + c->calls;

    FIELD(several_prepare)(room, c->wire_log, t->wire_roots, t->odd_shift);
    for (size_t i = 0; i < c->calls; i++)
        power[i] = r[i] = FIELD(to_weight)(get(joint_rand, i));
    for (size_t k = 0; k < p; k++)
        sums[k] = (fe_acc){0};
    for (size_t j = 0; j < c->chunk_length; j += SOTTO_POLY_SEVERAL / 2) {
        size_t left = c->chunk_length - j;
        size_t count = left < SOTTO_POLY_SEVERAL / 2 ? 2 * left : SOTTO_POLY_SEVERAL;

        for (size_t i = 0; i < count; i += 2) {
            chunk_wires(c, wires + i * p, meas, prove_rand, j + i / 2, power, r);
            FIELD(acc_mul)(&at_seed, wires[(i + 1) * p], wires[i * p]);
        }
        FIELD(several_to_odd_values)(wires, count, c->wire_log, t->wire_roots, t->odd_shift, room);
        for (size_t i = 0; i < count; i += 2)
            for (size_t k = 0; k < p; k++)
                FIELD(acc_mul)(&sums[k], wires[(i + 1) * p + k], wires[i * p + k]);
    }
    for (size_t k = 0; k < p; k++)
        wires[k] = FIELD(acc_reduce)(&sums[k]);
    put_gadget_values(c, values, FIELD(acc_reduce)(&at_seed), wires);
}

/* ---- one-hot chunks: no transform at all ---------------------------------------------------------- */

/* With the one at call i, place j, every even wire is its seed s at node 0 and nothing else. Wire j
 * also has rho = r_i^(j+1) at node i+1. Every odd wire is its seed u at node 0 and -1 at nodes
 * 1..calls, but for wire j, which is 0 at node i+1. Let e be the polynomial that is 1 at node 0 alone,
 * f at nodes 1..calls, and h at node i+1 alone (e turned by i+1 nodes). Then the gadget is
 *
 *     e * (e * sum(s u) - f * sum(s)) + h * (e * (s_j + rho * u_j) + rho * (h - f)).
 *
 * e and f are tables. The secrets i and j enter through masks only. */

typedef struct hot_spot {
    uint64_t call;  /* i */
    uint64_t place; /* j */
} hot_spot;

static hot_spot locate(const sotto_circuit *c, uint64_t index)
{
    hot_spot spot = {0, index};

    for (uint64_t i = 1; i < c->calls; i++) {
        uint64_t past = ~sotto_ct_less(index, i * c->chunk_length);

        spot.call += past & 1;
        spot.place -= c->chunk_length & past;
    }
    return spot;
}

static fe masked_add(fe sum, fe value, uint64_t mask)
{
    return FIELD(add)(sum, FIELD(mask)(value, mask));
}

/* out[k] = table[k - turn], where turn is secret: one pass for each of its bits. */
static void turn_by(fe *out, fe *spare, const fe *table, unsigned log, uint64_t turn)
{
    size_t n = (size_t)1 << log;

    for (size_t k = 0; k < n; k++)
        out[k] = table[k];
    for (unsigned bit = 0; bit < log; bit++) {
        uint64_t yes = sotto_ct_mask(turn >> bit & 1);
        size_t by = (size_t)1 << bit;

        for (size_t k = 0; k < n; k++)
            spare[k] =
                FIELD(add)(FIELD(mask)(out[(k - by) & (n - 1)], yes), FIELD(mask)(out[k], ~yes));
        for (size_t k = 0; k < n; k++)
            out[k] = spare[k];
    }
}

static void prove_one_hot(const sotto_circuit *c, uint8_t *values, uint64_t index,
                          const uint8_t *prove_rand, const uint8_t *joint_rand, fe *scratch)
{
    const flp_tables *t = c->tables;
    size_t p = wire_count(c);
    fe *h = scratch, *odd = h + p;
    hot_spot spot = locate(c, index);
    fe r = FIELD(zero)(), rho = FIELD(zero)(), s_hot = FIELD(zero)(), u_hot = FIELD(zero)();
    fe_acc seeds_acc = {0};
    fe_sum even_sum = {0};

    for (size_t i = 0; i < c->calls; i++)
        r = masked_add(r, get(joint_rand, i), sotto_ct_equal(i, spot.call));
    r = FIELD(to_weight)(r);
    fe power = r;
    for (size_t j = 0; j < c->chunk_length; j++) {
        fe s = get(prove_rand, 2 * j), u = get(prove_rand, 2 * j + 1);
        uint64_t hot = sotto_ct_equal(j, spot.place);

        FIELD(acc_mul)(&seeds_acc, s, FIELD(to_weight)(u));
        FIELD(sum_add)(&even_sum, s);
        rho = masked_add(rho, power, hot);
        s_hot = masked_add(s_hot, s, hot);
        u_hot = masked_add(u_hot, u, hot);
        power = FIELD(mul)(power, r);
    }
    fe seeds = FIELD(acc_reduce)(&seeds_acc), evens = FIELD(sum_reduce)(&even_sum);
    fe cross = FIELD(add)(s_hot, FIELD(mul)(u_hot, rho));
    fe rho_plain = FIELD(mul)(FIELD(one)(), rho);

    turn_by(h, odd, t->spike, c->wire_log, spot.call + 1);
    for (size_t k = 0; k < p; k++) {
        fe e = t->spike[k], f = t->plateau[k];
        fe quiet = FIELD(sub)(FIELD(mul)(seeds, e), FIELD(mul)(evens, f));
        fe loud = FIELD(add)(FIELD(mul)(cross, e), FIELD(mul)(rho_plain, FIELD(sub)(h[k], f)));

        odd[k] = FIELD(add)(FIELD(mul)(quiet, e), FIELD(mul)(loud, h[k]));
    }
    put_gadget_values(c, values, seeds, odd);
}

static void prove(const sotto_circuit *c, uint8_t *proof, const uint8_t *meas,
                  sotto_measurement measurement, const uint8_t *prove_rand,
                  const uint8_t *joint_rand, void *scratch)
{
    uint8_t *values = proof + c->arity * FE_SIZE;

    memcpy(proof, prove_rand, c->arity * FE_SIZE);
    if (c->shape == SOTTO_SHAPE_EACH)
        prove_elements(c, values, meas, prove_rand, scratch);
    else if (c->shape == SOTTO_SHAPE_PRODUCT)
        prove_product(c, values, meas, prove_rand, scratch);
    else if (c->one_hot)
        prove_one_hot(c, values, measurement.values[0], prove_rand, joint_rand, scratch);
    else
        prove_chunks(c, values, meas, prove_rand, joint_rand, scratch);
}
