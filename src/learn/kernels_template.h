/* learn/kernels_template.h - the kernels, over vectors of eight lanes that the including file defines.
 *
 * The sizes of a block are constants where a block is called, so that compilers keep its sums in registers. How a batch is cut
 * into blocks changes no result: every number is a sum of its own, over its inputs in their order.
 */
#include <string.h>

/* Up to eight lanes; `count` may be more. */
INLINE v8 load_some(const float *p, size_t count)
{
    return count >= SOTTO_KERNEL_LANES ? v_load(p) : v_load_part(p, count);
}

INLINE void store_some(float *p, size_t count, v8 x)
{
    if (count >= SOTTO_KERNEL_LANES)
        v_store(p, x);
    else
        v_store_part(p, count, x);
}

/* ---- dense layers ---------------------------------------------------------------------------------------- */

enum { DOT_ROWS = 4, DOT_OUTS = 4 };

/* y[r][o] = x[r] . w[o] + bias[o] */
INLINE void dot_block(float *y, const float *x, const float *w, const float *bias, size_t outs,
                      size_t ins, const size_t block_rows, const size_t block_outs)
{
    v8 sum[DOT_ROWS][DOT_OUTS];
    size_t i = 0;

    for (size_t r = 0; r < block_rows; r++)
        for (size_t o = 0; o < block_outs; o++)
            sum[r][o] = v_all(0);
    for (; i + SOTTO_KERNEL_LANES <= ins; i += SOTTO_KERNEL_LANES) {
        v8 in[DOT_ROWS];

        for (size_t r = 0; r < block_rows; r++)
            in[r] = v_load(x + r * ins + i);
        for (size_t o = 0; o < block_outs; o++) {
            const v8 weight = v_load(w + o * ins + i);

            for (size_t r = 0; r < block_rows; r++)
                sum[r][o] = v_fma(weight, in[r], sum[r][o]);
        }
    }
    if (i < ins)
        for (size_t r = 0; r < block_rows; r++)
            for (size_t o = 0; o < block_outs; o++)
                sum[r][o] = v_fma(v_load_part(w + o * ins + i, ins - i),
                                  v_load_part(x + r * ins + i, ins - i), sum[r][o]);
    for (size_t r = 0; r < block_rows; r++)
        if (block_outs == DOT_OUTS)
            v_sum_four(y + r * outs, sum[r], bias);
        else
            for (size_t o = 0; o < block_outs; o++)
                y[r * outs + o] = v_sum(sum[r][o]) + bias[o];
}

/* All rows for a few outputs. */
INLINE void dot_rows(float *y, const float *x, const float *w, const float *bias, size_t rows,
                     size_t outs, size_t ins, const size_t block_rows, const size_t block_outs)
{
    size_t r = 0;

    for (; r + block_rows <= rows; r += block_rows)
        dot_block(y + r * outs, x + r * ins, w, bias, outs, ins, block_rows, block_outs);
    for (; r < rows; r++)
        dot_block(y + r * outs, x + r * ins, w, bias, outs, ins, 1, block_outs);
}

static void dense_forward(float *y, const float *x, const float *w, const float *bias, size_t rows,
                          size_t outs, size_t ins)
{
    size_t o = 0;

    for (; o + 4 <= outs; o += 4)
        dot_rows(y + o, x, w + o * ins, bias + o, rows, outs, ins, 2, 4);
    for (; o + 2 <= outs; o += 2)
        dot_rows(y + o, x, w + o * ins, bias + o, rows, outs, ins, 4, 2);
    if (o < outs)
        dot_rows(y + o, x, w + o * ins, bias + o, rows, outs, ins, 4, 1);
}

enum { SPREAD_ROWS = 4, SPREAD_VECTORS = 2 };

/* out[r] (+)= sum over k of factor[r, k] times from[k], for rows r and lanes of a vector or two. */
typedef struct spread {
    float *out;
    size_t out_step; /* from one r to the next */
    const float *factor;
    size_t factor_step, factor_next; /* from one r, one k, to the next */
    const float *from;
    size_t from_next; /* from one k to the next */
    size_t count;     /* of k                   */
    bool adds;
} spread;

INLINE void spread_block(const spread *s, size_t row, size_t lane, size_t part,
                         const size_t block_rows, const size_t vectors)
{
    v8 sum[SPREAD_ROWS][SPREAD_VECTORS];
    const float *factor = s->factor + row * s->factor_step, *from = s->from + lane;
    float *out = s->out + row * s->out_step + lane;
    const size_t factor_step = s->factor_step;

    for (size_t r = 0; r < block_rows; r++)
        for (size_t v = 0; v < vectors; v++)
            sum[r][v] = v_all(0);
    for (size_t k = s->count; k > 0; k--) {
        v8 in[SPREAD_VECTORS];

        for (size_t v = 0; v < vectors; v++)
            in[v] = part ? v_load_part(from, part) : v_load(from + v * SOTTO_KERNEL_LANES);
        for (size_t r = 0; r < block_rows; r++) {
            const v8 weight = v_all(factor[r * factor_step]);

            for (size_t v = 0; v < vectors; v++)
                sum[r][v] = v_fma(weight, in[v], sum[r][v]);
        }
        factor += s->factor_next;
        from += s->from_next;
    }
    for (size_t r = 0; r < block_rows; r++)
        for (size_t v = 0; v < vectors; v++) {
            float *at = out + r * s->out_step + v * SOTTO_KERNEL_LANES;

            if (part)
                v_store_part(at, part,
                             s->adds ? v_add(v_load_part(at, part), sum[r][v]) : sum[r][v]);
            else
                v_store(at, s->adds ? v_add(v_load(at), sum[r][v]) : sum[r][v]);
        }
}

INLINE void spread_rows(const spread *s, size_t row, size_t lanes, const size_t block_rows)
{
    const size_t both = (size_t)SPREAD_VECTORS * SOTTO_KERNEL_LANES;
    size_t at = 0;

    for (; at + both <= lanes; at += both)
        spread_block(s, row, at, 0, block_rows, SPREAD_VECTORS);
    if (at + SOTTO_KERNEL_LANES <= lanes) {
        spread_block(s, row, at, 0, block_rows, 1);
        at += SOTTO_KERNEL_LANES;
    }
    if (at < lanes)
        spread_block(s, row, at, lanes - at, block_rows, 1);
}

static void spread_all(const spread *s, size_t rows, size_t lanes)
{
    size_t row = 0;

    for (; row + SPREAD_ROWS <= rows; row += SPREAD_ROWS)
        spread_rows(s, row, lanes, SPREAD_ROWS);
    for (; row < rows; row++)
        spread_rows(s, row, lanes, 1);
}

static void dense_input(float *dx, const float *dy, const float *w, size_t rows, size_t outs,
                        size_t ins)
{
    spread s = {.out_step = ins,
                .factor = dy,
                .factor_step = outs,
                .factor_next = 1,
                .from = w,
                .from_next = ins,
                .count = outs};

    s.out = dx;
    spread_all(&s, rows, ins);
}

static void dense_weights(float *dw, float *dbias, const float *dy, const float *x, size_t rows,
                          size_t outs, size_t ins)
{
    spread s = {.out_step = ins,
                .factor = dy,
                .factor_step = 1,
                .factor_next = outs,
                .from = x,
                .from_next = ins,
                .count = rows,
                .adds = true};

    s.out = dw;
    spread_all(&s, outs, ins);
    for (size_t r = 0; r < rows; r++)
        for (size_t o = 0; o < outs; o++)
            dbias[o] += dy[r * outs + o];
}

/* ---- convolutions, with ReLU and the largest of 2 x 2 ----------------------------------------------------- */

enum { CONV_OUTS = 6, CONV_HALF = SOTTO_KERNEL_LANES / 2 };

/* What two channels leave of eight columns in two rows: lanes 0 to 3 are the first channel's, 4 to 7 the second's. */
typedef struct pooled {
    v8 most; /* or 0 where that is negative                                     */
    v8 from; /* how far its place is from the first, in rows of `pitch` numbers */
} pooled;

INLINE pooled pool_two(const v8 a[2], const v8 b[2], float pitch)
{
    const v8 corners[4] = {v_even(a[0], b[0]), v_odd(a[0], b[0]), v_even(a[1], b[1]),
                           v_odd(a[1], b[1])};
    const float places[4] = {0, 1, pitch, pitch + 1};
    pooled p = {corners[0], v_even(v_ramp(), v_ramp())};
    v8 place = v_all(0);

    for (size_t i = 1; i < 4; i++) {
        place = v_select(m_above(corners[i], p.most), v_all(places[i]), place);
        p.most = v_max(corners[i], p.most);
    }
    p.most = v_max(p.most, v_all(0));
    p.from = v_add(p.from, place);
    return p;
}

/* Up to four lanes of one half: numbers, and the places that they are from. */
INLINE void store_pooled(float *y, int32_t *from, size_t to, size_t count, v8 most, v8 places,
                         const size_t half)
{
    if (count >= CONV_HALF) {
        v_store_half(y + to, most, half);
        if (from)
            v_store_integers(from + to, places, half);
    } else {
        float lanes[2][SOTTO_KERNEL_LANES];

        v_store(lanes[0], most);
        v_store(lanes[1], places);
        for (size_t i = 0; i < count; i++) {
            y[to + i] = lanes[0][half * CONV_HALF + i];
            if (from)
                from[to + i] = (int32_t)lanes[1][half * CONV_HALF + i];
        }
    }
}

/* The layer as the loops need it. */
typedef struct conv_plan {
    size_t pitch, in_plane, in_image; /* numbers of the input: a row, a channel, an image */
    size_t out_pitch, plane, out_image;
    size_t rows, columns;          /* of the convolution, before the largest are taken */
    size_t taps;                   /* weights of an output channel                     */
    size_t reach[SOTTO_CONV_TAPS]; /* from the first number of a patch to each */
} conv_plan;

static conv_plan conv_prepare(const sotto_conv *c)
{
    conv_plan p = {.pitch = c->pitch,
                   .in_plane = c->height * c->pitch,
                   .out_pitch = c->out_pitch,
                   .rows = c->height - SOTTO_CONV_SIZE + 1,
                   .columns = c->width - SOTTO_CONV_SIZE + 1,
                   .taps = c->in * SOTTO_CONV_TAPS};

    p.plane = p.rows / 2 * p.out_pitch;
    p.in_image = c->in * p.in_plane;
    p.out_image = c->out * p.plane;
    for (size_t i = 0; i < SOTTO_CONV_TAPS; i++)
        p.reach[i] = i / SOTTO_CONV_SIZE * c->pitch + i % SOTTO_CONV_SIZE;
    return p;
}

/* Two rows of up to eight columns, which begin at `first` of an input channel, for `outs` channels. */
INLINE void conv_block(float *y, int32_t *from, const float *x, const float *w, const float *bias,
                       const conv_plan *p, size_t in, size_t first, size_t left, const size_t outs)
{
    v8 sum[CONV_OUTS][2];

    x += first;
    for (size_t o = 0; o < outs; o++)
        sum[o][0] = sum[o][1] = v_all(bias[o]);
    for (size_t channel = 0; channel < in; channel++) {
        for (size_t tap = 0; tap < SOTTO_CONV_TAPS; tap++, w++) {
            const float *at = x + p->reach[tap];
            const v8 input[2] = {v_load(at), v_load(at + p->pitch)};

            for (size_t o = 0; o < outs; o++) {
                const v8 weight = v_all(w[o * p->taps]);

                sum[o][0] = v_fma(weight, input[0], sum[o][0]);
                sum[o][1] = v_fma(weight, input[1], sum[o][1]);
            }
        }
        x += p->in_plane;
    }
    for (size_t o = 0; o < outs; o += 2) {
        const size_t other = o + 1 < outs ? o + 1 : o;
        const pooled two = pool_two(sum[o], sum[other], (float)p->pitch);
        const v8 places = v_add(two.from, v_all((float)first));

        store_pooled(y, from, o * p->plane, left / 2, two.most, places, 0);
        if (other > o)
            store_pooled(y, from, other * p->plane, left / 2, two.most, places, 1);
    }
}

INLINE void conv_outs(float *y, int32_t *from, const float *x, const float *w, const float *bias,
                      const conv_plan *p, size_t in, const size_t outs)
{
    for (size_t row = 0; row < p->rows; row += 2)
        for (size_t at = 0; at < p->columns; at += SOTTO_KERNEL_LANES) {
            const size_t to = row / 2 * p->out_pitch + at / 2;

            conv_block(y + to, from ? from + to : NULL, x, w, bias, p, in, row * p->pitch + at,
                       p->columns - at, outs);
        }
}

/* How many of the output channels that are left go together. */
static size_t conv_share(size_t left)
{
    if (left == CONV_OUTS || left >= CONV_OUTS + 4)
        return CONV_OUTS;
    return left >= 4 ? 4 : 1;
}

static void conv_forward(float *y, int32_t *from, const float *x, const float *w, const float *bias,
                         const sotto_conv *c, size_t rows)
{
    const conv_plan p = conv_prepare(c);

    for (size_t r = 0; r < rows; r++, x += p.in_image)
        for (size_t o = 0, outs; o < c->out; o += outs) {
            int32_t *places = from ? from + r * p.out_image + o * p.plane : NULL;
            float *to = y + r * p.out_image + o * p.plane;

            outs = conv_share(c->out - o);
            if (outs == CONV_OUTS)
                conv_outs(to, places, x, w + o * p.taps, bias + o, &p, c->in, CONV_OUTS);
            else if (outs == 4)
                conv_outs(to, places, x, w + o * p.taps, bias + o, &p, c->in, 4);
            else
                conv_outs(to, places, x, w + o * p.taps, bias + o, &p, c->in, 1);
        }
}

/* One patch of the input, weighted by the error of the number that came from it. */
INLINE void conv_patch(v8 sum[SOTTO_CONV_SIZE], const float *patch, float error, size_t pitch)
{
    const v8 factor = v_all(error);

    for (size_t k = 0; k < SOTTO_CONV_SIZE; k++)
        sum[k] = v_fma(factor, v_load(patch + k * pitch), sum[k]);
}

/* One row of errors, for one output channel and two input channels. With one input channel, every second number goes to sums
 * of its own: so many sums keep the multipliers busy. */
INLINE void conv_weights_row(v8 sum[2][SOTTO_CONV_SIZE], const float *dy, const int32_t *from,
                             const float *x, const conv_plan *p, const bool two)
{
    const size_t count = p->columns / 2;

    for (size_t i = 0; i < count; i++) {
        const float *patch = x + (size_t)from[i];

        conv_patch(sum[0], patch, dy[i], p->pitch);
        if (two)
            conv_patch(sum[1], patch + p->in_plane, dy[i], p->pitch);
        else if (++i < count)
            conv_patch(sum[1], x + (size_t)from[i], dy[i], p->pitch);
    }
}

INLINE void conv_weights_block(float *dw, const float *dy, const int32_t *from, const float *x,
                               const conv_plan *p, size_t rows, const bool two)
{
    v8 sum[2][SOTTO_CONV_SIZE];

    for (size_t k = 0; k < SOTTO_CONV_SIZE; k++)
        sum[0][k] = sum[1][k] = v_all(0);
    for (size_t r = 0; r < rows; r++, dy += p->out_image, from += p->out_image, x += p->in_image)
        for (size_t at = 0; at < p->plane; at += p->out_pitch)
            conv_weights_row(sum, dy + at, from + at, x, p, two);
    for (size_t k = 0; k < SOTTO_CONV_SIZE; k++) {
        float lanes[2][SOTTO_KERNEL_LANES];

        v_store(lanes[0], two ? sum[0][k] : v_add(sum[0][k], sum[1][k]));
        v_store(lanes[1], sum[1][k]);
        for (size_t i = 0; i < SOTTO_CONV_SIZE; i++) {
            dw[k * SOTTO_CONV_SIZE + i] += lanes[0][i];
            if (two)
                dw[SOTTO_CONV_TAPS + k * SOTTO_CONV_SIZE + i] += lanes[1][i];
        }
    }
}

static float conv_sum(const float *dy, const conv_plan *p)
{
    v8 sum = v_all(0);

    for (size_t row = 0; row < p->plane; row += p->out_pitch)
        for (size_t at = 0; at < p->columns / 2; at += SOTTO_KERNEL_LANES)
            sum = v_add(sum, load_some(dy + row + at, p->columns / 2 - at));
    return v_sum(sum);
}

static void conv_weights(float *dw, float *dbias, const float *dy, const int32_t *from,
                         const float *x, const sotto_conv *c, size_t rows)
{
    const conv_plan p = conv_prepare(c);

    for (size_t channel = 0; channel < c->in; channel += 2)
        for (size_t o = 0; o < c->out; o++) {
            float *to = dw + o * p.taps + channel * SOTTO_CONV_TAPS;
            const float *error = dy + o * p.plane;
            const int32_t *places = from + o * p.plane;

            if (channel + 2 <= c->in)
                conv_weights_block(to, error, places, x + channel * p.in_plane, &p, rows, true);
            else
                conv_weights_block(to, error, places, x + channel * p.in_plane, &p, rows, false);
        }
    for (size_t r = 0; r < rows; r++)
        for (size_t o = 0; o < c->out; o++)
            dbias[o] += conv_sum(dy + r * p.out_image + o * p.plane, &p);
}

enum {
    BACK_ROWS = SOTTO_CONV_SIZE + 1, /* that the patches of a 2 x 2 touch            */
    BACK_PATCH = (BACK_ROWS + 1) *   /* a channel's weights, between rows of zeros   */
                 SOTTO_KERNEL_LANES
};
_Static_assert(SOTTO_CONV_ROOM == 2 * 2 * BACK_PATCH, "two channels, and two columns to begin at");

/* Weights of `channels` input channels, once from the first lane on, and once from the second. With zeros around them, each of
 * the four patches of a 2 x 2 is the same six rows of vectors. */
INLINE void conv_lay_out(float *room, const float *w, const sotto_conv *c, const conv_plan *p,
                         const size_t channels)
{
    memset(room, 0, c->out * 2 * channels * BACK_PATCH * sizeof *room);
    for (size_t o = 0; o < c->out; o++)
        for (size_t right = 0; right < 2; right++)
            for (size_t channel = 0; channel < channels; channel++, room += BACK_PATCH)
                for (size_t k = 0; k < SOTTO_CONV_SIZE; k++)
                    memcpy(room + (k + 1) * SOTTO_KERNEL_LANES + right,
                           w + o * p->taps + channel * SOTTO_CONV_TAPS + k * SOTTO_CONV_SIZE,
                           SOTTO_CONV_SIZE * sizeof *w);
}

/* The errors of one number of each output channel, back to the patches that they came from. The first patch begins at `at`. */
INLINE void conv_input_block(float *dx, const float *dy, const int32_t *from, const float *room,
                             const sotto_conv *c, const conv_plan *p, size_t at,
                             const size_t channels)
{
    v8 sum[2][BACK_ROWS];

    for (size_t k = 0; k < BACK_ROWS; k++)
        sum[0][k] = sum[1][k] = v_all(0);
    for (size_t o = 0; o < c->out; o++, room += 2 * channels * BACK_PATCH) {
        const size_t place = (size_t)from[o * p->plane] - at;
        const size_t above = place <= 1, right = place & 1; /* computed: nobody can predict them */
        const float *w = room + right * channels * BACK_PATCH + above * SOTTO_KERNEL_LANES;
        const v8 error = v_all(dy[o * p->plane]);

        for (size_t channel = 0; channel < channels; channel++)
            for (size_t k = 0; k < BACK_ROWS; k++)
                sum[channel][k] =
                    v_fma(error, v_load(w + channel * BACK_PATCH + k * SOTTO_KERNEL_LANES),
                          sum[channel][k]);
    }
    for (size_t channel = 0; channel < channels; channel++)
        for (size_t k = 0; k < BACK_ROWS; k++) {
            float *to = dx + channel * p->in_plane + at + k * p->pitch;

            v_store(to, v_add(v_load(to), sum[channel][k]));
        }
}

INLINE void conv_input_channels(float *dx, const float *dy, const int32_t *from, const float *room,
                                const sotto_conv *c, const conv_plan *p, size_t rows,
                                const size_t channels)
{
    for (size_t r = 0; r < rows; r++, dx += p->in_image, dy += p->out_image, from += p->out_image)
        for (size_t row = 0; row < p->rows; row += 2)
            for (size_t column = 0; column < p->columns; column += 2) {
                const size_t out = row / 2 * p->out_pitch + column / 2;

                conv_input_block(dx, dy + out, from + out, room, c, p, row * p->pitch + column,
                                 channels);
            }
}

static void conv_input(float *dx, float *room, const float *dy, const int32_t *from, const float *w,
                       const sotto_conv *c, size_t rows)
{
    const conv_plan p = conv_prepare(c);

    memset(dx, 0, rows * p.in_image * sizeof *dx);
    for (size_t channel = 0; channel < c->in; channel += 2) {
        float *to = dx + channel * p.in_plane;
        const float *weights = w + channel * SOTTO_CONV_TAPS;

        if (channel + 2 <= c->in) {
            conv_lay_out(room, weights, c, &p, 2);
            conv_input_channels(to, dy, from, room, c, &p, rows, 2);
        } else {
            conv_lay_out(room, weights, c, &p, 1);
            conv_input_channels(to, dy, from, room, c, &p, rows, 1);
        }
    }
}

/* ---- element by element -------------------------------------------------------------------------------------- */

/* 2^k e^r with |r| at most half of log 2, whose series is cut after r^7. */
static void exponentials(float *x, size_t count)
{
    const float to_integer =
        12582912.0F; /* 1.5 times 2^23: what is added to it loses its fraction */

    for (size_t i = 0; i < count; i++) {
        float v = x[i] > -87.0F ? x[i] : -87.0F;

        v = v < 88.0F ? v : 88.0F;
        const float shifted = v * 1.44269504F + to_integer;
        const float k = shifted - to_integer;
        const float r = (v - k * 0.693359375F) + k * 2.12194440e-4F;
        float p = 1.0F / 5040;
        int32_t bits;

        p = p * r + 1.0F / 720;
        p = p * r + 1.0F / 120;
        p = p * r + 1.0F / 24;
        p = p * r + 1.0F / 6;
        p = p * r + 0.5F;
        p = p * r + 1.0F;
        p = p * r + 1.0F;
        bits = ((int32_t)k + 127) * (1 << 23);
        memcpy(&v, &bits, sizeof v);
        x[i] = p * v;
    }
}

static double descend(float *w, const float *start, const float *gradient, float rate, size_t count)
{
    double sum[SOTTO_KERNEL_LANES] = {0};
    size_t at = 0;

    for (; at + SOTTO_KERNEL_LANES <= count; at += SOTTO_KERNEL_LANES)
        for (size_t i = 0; i < SOTTO_KERNEL_LANES; i++) {
            w[at + i] -= rate * gradient[at + i];
            const double far = (double)w[at + i] - (double)start[at + i];

            sum[i] += far * far;
        }
    for (size_t i = 0; i < count - at; i++) {
        w[at + i] -= rate * gradient[at + i];
        const double far = (double)w[at + i] - (double)start[at + i];

        sum[i] += far * far;
    }
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

const sotto_kernels KERNELS = {
    KERNELS_NAME, dense_forward, dense_input,  dense_weights, conv_forward,
    conv_input,   conv_weights,  exponentials, descend,
};
