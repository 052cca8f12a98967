'use strict';

// A text cut into tokens, and how surprising each is where a model has scored them.
{
  const given = data();
  const scored = given.scored !== null;
  // All tokens in order; `text` is the number of the text that a token is in.
  const tokens = given.texts.flatMap((text, number) =>
    text.ids.map((id, i) => ({
      text: number,
      place: i,
      id,
      piece: text.pieces[i],
      shown: text.texts[i],
      gap: text.gaps[i],
      kind: text.kinds[i],
      bytes: text.bytes[i],
      characters: text.characters[i],
      surprise: scored ? text.surprise[i] : null,
      rank: scored ? text.rank[i] : null,
      entropy: scored ? text.entropy[i] : null,
      top: scored ? text.top[i] : [],
    })),
  );
  const kinds = ['', 'special token', 'unknown token'];
  const nodes = [];
  const state = {
    view: 'text',
    colour: scored ? 'surprise' : 'tokens',
    below: scored ? 'surprise' : 'none',
    token: null,
    unit: 'token',
    search: '',
    ...readHash(),
  };
  const asked = state.token !== null; // by the address
  if (!asked && scored) state.token = mostSurprisingOf(tokens);
  state.token = state.token === null ? null : Math.min(Math.max(0, Number(state.token) || 0), tokens.length - 1);
  let hits = [];
  let hit = -1;

  // The place of the token with the most bits; null where none was scored.
  function mostSurprisingOf(all) {
    const best = all.reduce((most, token, i) => ((token.surprise ?? -1) > (all[most]?.surprise ?? -1) ? i : most), 0);
    return all[best]?.surprise === null ? null : best;
  }

  const bits = (x) => (x === null ? 'not scored' : `${x.toFixed(2)} ${Number(x.toFixed(2)) === 1 ? 'bit' : 'bits'}`);
  const short = (x) => (x === null ? '–' : x.toFixed(1));
  const probability = (x) => (x >= 0.0001 || x === 0 ? x.toPrecision(3).replace(/\.?0+$/, '') : x.toExponential(2));
  const range = (r) => (r ? `${r[0]} to ${r[1]}` : 'unknown: the tokenizer changes the text');
  // Signs for white space; the numbers of characters that are not seen at all.
  function visible(text) {
    const signs = text.replaceAll('\n', '↵').replaceAll('\t', '⇥').replaceAll(' ', '␣');
    if (/[^\s\p{Cf}\p{Cc}]/u.test(signs)) return signs;
    return [...signs].map((each) => `U+${each.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`).join(' ');
  }
  // What a token looks like on one line.
  const label = (token) => visible(token.shown) || token.piece;

  // --- the text ---

  // Line ends of the text stay; a sign shows which token has them.
  function contentOf(text) {
    if (!/[^\s\p{Cf}\p{Cc}]/u.test(text) && !text.includes('\n'))
      return [el('span', { class: 'sign' }, [visible(text)])];
    return text
      .split('\n')
      .flatMap((line, i) => (i === 0 ? [line] : [el('span', { class: 'sign' }, ['↵']), el('br'), line]))
      .map((part) => (typeof part === 'string' ? part.replaceAll('\t', '⇥') : part));
  }

  const belowOf = {
    none: () => null,
    id: (token) => String(token.id),
    surprise: (token) => short(token.surprise),
    rank: (token) => (token.rank === null ? '–' : token.rank.toLocaleString('en')),
  };

  function named(token) {
    const parts = [isolated(label(token)), `id ${token.id}`];
    if (kinds[token.kind]) parts.push(kinds[token.kind]);
    if (scored) parts.push(bits(token.surprise));
    return parts.join(', ');
  }

  function shade(token) {
    if (state.colour === 'surprise') return Math.min(1, (token.surprise ?? 0) / 15);
    if (state.colour === 'rank') return token.rank === null ? 0 : Math.min(1, Math.log10(token.rank) / 4);
    return 0;
  }

  function classOf(token, i) {
    const names = ['token', state.colour === 'tokens' ? `tone-${i % 4}` : 'shaded'];
    if (token.kind > 0) names.push(['', 'special', 'unknown'][token.kind]);
    if (token.shown === '') names.push('empty');
    return names.join(' ');
  }

  function nodeOf(token, i) {
    const content = token.shown === '' ? [token.piece] : contentOf(token.shown);
    const below = belowOf[state.below](token);
    const node = el(
      'span',
      {
        class: classOf(token, i) + (below === null ? '' : ' stacked'),
        role: 'option',
        id: `token-${i}`,
        tabindex: -1,
        'aria-selected': String(i === state.token),
      },
      below === null ? content : [el('span', { class: 'word' }, content), el('span', { class: 'below' }, [below])],
    );
    node.style.setProperty('--share', shade(token).toFixed(3));
    nodes[i] = node;
    return node;
  }

  function paragraphs() {
    let i = 0;
    return given.texts.map((text, number) => {
      const name = given.texts.length === 1 ? 'Text' : `Text ${number + 1}`;
      const list = el('div', { class: 'text', dir: 'auto', role: 'listbox', 'aria-label': `${name}, token by token` });
      for (; i < tokens.length && tokens[i].text === number; ++i) {
        if (tokens[i].gap) list.append(tokens[i].gap);
        list.append(nodeOf(tokens[i], i));
        // A line end inside a stacked token cannot end the line around it.
        if (state.below !== 'none' && tokens[i].shown.endsWith('\n')) list.append(el('br'));
      }
      if (text.end) list.append(text.end);
      return el('section', {}, [
        given.texts.length > 1 ? el('h2', { class: 'quiet' }, [name]) : null,
        text.source
          ? el('p', { class: 'source', dir: 'auto' }, [el('span', { class: 'quiet' }, ['Source: ']), bdi(text.source)])
          : null,
        list,
      ]);
    });
  }

  // --- one token ---

  const details = el('aside', { class: 'details', tabindex: 0, 'aria-label': 'The chosen token' });

  function fact(name, value, properties = {}) {
    return [el('dt', {}, [name]), el('dd', properties, [value].flat())];
  }

  function alternatives(token) {
    if (!token.top.length) return null;
    const rows = token.top.map(([piece, p, id]) =>
      el('tr', id === token.id ? { class: 'own' } : {}, [
        el('td', {}, [
          bdi(piece, { class: 'piece' }),
          id === token.id ? el('span', { class: 'quiet' }, [' this one']) : null,
        ]),
        el('td', { class: 'numbers' }, [probability(p)]),
        el('td', { class: 'bar', 'aria-hidden': 'true' }, [el('span', { style: `width: ${(100 * p).toFixed(1)}%` })]),
      ]),
    );
    return el('table', { class: 'alternatives' }, [
      el('caption', {}, ['Most probable here']),
      el('thead', {}, [
        el('tr', {}, [
          el('th', { scope: 'col' }, ['piece']),
          el('th', { scope: 'col', class: 'numbers' }, ['probability']),
          el('td', { 'aria-hidden': 'true' }),
        ]),
      ]),
      el('tbody', {}, rows),
    ]);
  }

  function showDetails() {
    moveCursor();
    details.classList.toggle('nothing', state.token === null);
    if (state.token === null) {
      details.replaceChildren(
        el('p', { class: 'quiet' }, ['Choose a token: click, tap, or move with the arrow keys.']),
      );
      return;
    }
    const token = tokens[state.token];
    details.replaceChildren(
      el('h2', {}, [bdi(label(token), { class: 'piece' })]),
      el('dl', {}, [
        ...(scored
          ? [
              ...fact('surprise', token.surprise === null ? 'not scored: nothing precedes it' : bits(token.surprise)),
              ...(token.surprise === null
                ? []
                : [
                    ...fact('probability', probability(2 ** -token.surprise)),
                    ...fact('rank', `${token.rank.toLocaleString('en')} of ${given.vocabulary.toLocaleString('en')}`),
                    ...fact('expected surprise', bits(token.entropy)),
                  ]),
            ]
          : []),
        ...fact('piece', bdi(token.piece, { class: 'piece' })),
        ...fact('id', String(token.id)),
        ...(kinds[token.kind] ? fact('kind', kinds[token.kind]) : []),
        ...fact('number', `${token.place}${given.texts.length > 1 ? ` of text ${token.text + 1}` : ''}, from 0`),
        ...fact('bytes', range(token.bytes)),
        ...fact('characters', range(token.characters)),
      ]),
      alternatives(token) ?? '',
    );
  }

  function choose(i, focus = true) {
    if (i < 0 || i >= tokens.length) return;
    if (state.token !== null && nodes[state.token]) {
      nodes[state.token].setAttribute('aria-selected', 'false');
      nodes[state.token].tabIndex = -1;
    }
    state.token = i;
    nodes[i]?.setAttribute('aria-selected', 'true');
    makeReachable();
    if (focus && nodes[i]) {
      nodes[i].focus({ preventScroll: true });
      nodes[i].scrollIntoView({ block: 'nearest' });
    }
    announce(named(tokens[i]));
    showDetails();
    keepState();
  }

  // Tab reaches each text once: at its chosen token, or at its first.
  function makeReachable() {
    const chosen = state.token === null ? null : tokens[state.token];
    for (let i = 0; i < tokens.length; ++i) {
      if (!nodes[i]) continue;
      if (i === state.token) nodes[i].tabIndex = 0;
      else if (tokens[i].place === 0) nodes[i].tabIndex = chosen && chosen.text === tokens[i].text ? -1 : 0;
    }
  }

  // The nearest token of the line above or below.
  function vertically(from, step) {
    const box = nodes[from].getBoundingClientRect();
    const middle = (box.left + box.right) / 2;
    let best = -1,
      line = null,
      least = Infinity;
    for (let i = from + step; i >= 0 && i < tokens.length; i += step) {
      const other = nodes[i].getBoundingClientRect();
      const further = step > 0 ? other.top > box.top + box.height / 2 : other.top < box.top - box.height / 2;
      if (!further) continue;
      if (line !== null && Math.abs(other.top - line) > other.height / 2) break;
      line = other.top;
      const distance = Math.abs((other.left + other.right) / 2 - middle);
      if (distance < least) [best, least] = [i, distance];
    }
    return best;
  }

  function moved(event) {
    const at = nodes.indexOf(event.target.closest('.token'));
    if (at < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    const rightToLeft = getComputedStyle(nodes[at].closest('.text')).direction === 'rtl';
    const forward = rightToLeft ? 'ArrowLeft' : 'ArrowRight';
    const backward = rightToLeft ? 'ArrowRight' : 'ArrowLeft';
    const to = {
      [forward]: () => at + 1,
      [backward]: () => at - 1,
      ArrowDown: () => vertically(at, 1),
      ArrowUp: () => vertically(at, -1),
      Home: () => 0,
      End: () => tokens.length - 1,
      Enter: () => at,
      ' ': () => at,
    }[event.key];
    if (!to) return;
    event.preventDefault();
    choose(to());
  }

  const textView = el('div', {
    class: 'texts',
    onclick: (event) => {
      const node = event.target.closest('.token');
      if (node) choose(nodes.indexOf(node));
    },
    onkeydown: moved,
    onfocusin: (event) => {
      const i = nodes.indexOf(event.target);
      if (i >= 0 && i !== state.token) choose(i, false);
    },
    onpointermove: (event) => {
      const node = event.pointerType === 'mouse' ? event.target.closest('.token') : null;
      if (!node) return tip(0, 0, null);
      const token = tokens[nodes.indexOf(node)];
      return tip(event.clientX, event.clientY, [
        bdi(label(token), { class: 'piece' }),
        `id ${token.id}, bytes ${range(token.bytes)}`,
        ...(scored
          ? [`${bits(token.surprise)}${token.rank === null ? '' : `, rank ${token.rank.toLocaleString('en')}`}`]
          : []),
      ]);
    },
    onpointerleave: () => tip(0, 0, null),
  });

  // --- the table ---

  const rowsAtOnce = 500;
  const headings = [
    '',
    'id',
    'piece',
    'text',
    'bytes',
    'characters',
    ...(scored ? ['bits', 'probability', 'rank', 'most probable'] : []),
  ];
  const numeric = new Set(['', 'id', 'bits', 'probability', 'rank']);
  const body = el('tbody');
  const more = button('', () => addRows());
  let rows = 0;

  function rowOf(token) {
    const cells = [
      [String(token.place), 1],
      [String(token.id), 1],
      [bdi(token.piece, { class: 'piece' })],
      [bdi(label(token), { class: 'piece' })],
      [token.bytes ? token.bytes.join(':') : ''],
      [token.characters ? token.characters.join(':') : ''],
      ...(scored
        ? [
            [short(token.surprise), 1],
            [token.surprise === null ? '' : probability(2 ** -token.surprise), 1],
            [token.rank === null ? '' : token.rank.toLocaleString('en'), 1],
            [token.top.slice(0, 3).flatMap(([piece, p]) => [bdi(piece, { class: 'piece' }), ` ${probability(p)}  `])],
          ]
        : []),
    ];
    return el(
      'tr',
      {},
      cells.map(([content, number]) => el('td', number ? { class: 'numbers' } : {}, [content].flat())),
    );
  }

  function addRows() {
    for (const end = Math.min(tokens.length, rows + rowsAtOnce); rows < end; ++rows) {
      if (given.texts.length > 1 && tokens[rows].place === 0) {
        body.append(
          el('tr', {}, [el('th', { colspan: headings.length, scope: 'rowgroup' }, [`Text ${tokens[rows].text + 1}`])]),
        );
      }
      body.append(rowOf(tokens[rows]));
    }
    more.hidden = rows === tokens.length;
    more.textContent = `Show ${counted(Math.min(rowsAtOnce, tokens.length - rows), 'more row', 'more rows')}`;
  }

  const tableView = el('div', {}, [
    el('div', { class: 'scrolls', tabindex: 0, role: 'region', 'aria-label': 'Table of the tokens' }, [
      el('table', {}, [
        el('thead', {}, [
          el(
            'tr',
            {},
            headings.map((name) =>
              el(name ? 'th' : 'td', { scope: name ? 'col' : null, class: numeric.has(name) ? 'numbers' : null }, [
                name,
              ]),
            ),
          ),
        ]),
        body,
      ]),
    ]),
    more,
  ]);

  // --- search: in the texts, so that a match may have several tokens ---

  const texts = given.texts.map(() => ({ content: '', owner: [] }));
  tokens.forEach((token, i) => {
    const text = texts[token.text];
    for (const [part, owner] of [
      [token.gap, -1],
      [token.shown.toLowerCase(), i],
    ]) {
      text.content += part;
      for (let k = 0; k < part.length; ++k) text.owner.push(owner);
    }
  });

  const found = el('span', { class: 'quiet', role: 'status' });

  function find() {
    for (const i of hits.flat()) nodes[i]?.classList.remove('hit', 'current');
    hits = [];
    const wanted = state.search.toLowerCase();
    for (const { content, owner } of wanted ? texts : []) {
      for (let at = content.indexOf(wanted); at >= 0; at = content.indexOf(wanted, at + 1)) {
        const of = [...new Set(owner.slice(at, at + wanted.length))].filter((i) => i >= 0);
        if (of.length) hits.push(of);
      }
    }
    hit = -1;
    for (const i of hits.flat()) nodes[i]?.classList.add('hit');
    found.textContent = wanted ? counted(hits.length, 'match', 'matches') : '';
  }

  function visit(step) {
    if (!hits.length) return;
    for (const i of hits[hit] ?? []) nodes[i].classList.remove('current');
    hit = hit < 0 ? (step > 0 ? 0 : hits.length - 1) : (hit + step + hits.length) % hits.length;
    for (const i of hits[hit]) nodes[i].classList.add('current');
    found.textContent = `${hit + 1} of ${counted(hits.length, 'match', 'matches')}`;
    const inField = document.activeElement === searchField;
    choose(hits[hit][0], !inField);
    if (inField) nodes[hits[hit][0]].scrollIntoView({ block: 'nearest' });
  }

  const searchField = el('input', {
    type: 'search',
    value: state.search,
    'aria-label': 'Search the text',
    placeholder: 'Search the text',
    oninput: () => {
      state.search = searchField.value;
      find();
      keepState();
    },
    onkeydown: (event) => {
      if (event.key === 'Enter') {
        event.preventDefault();
        show('text');
        visit(event.shiftKey ? -1 : 1);
      }
    },
  });

  // --- the page ---

  function drawText() {
    nodes.length = 0;
    textView.replaceChildren(...paragraphs());
    makeReachable();
    find();
  }

  const viewChoice = choice('View', { text: 'Text', table: 'Table' }, state.view, (view) => show(view));
  const colourChoice = choice(
    'Colour',
    { tokens: 'Tokens', surprise: 'Surprise', rank: 'Rank' },
    state.colour,
    (name) => {
      state.colour = name;
      drawText();
      drawLegend();
      keepState();
    },
  );
  const belowChoice = el(
    'select',
    {
      onchange: () => {
        state.below = belowChoice.value;
        drawText();
        keepState();
      },
    },
    Object.entries({
      none: 'nothing',
      id: 'ids',
      ...(scored ? { surprise: 'surprise in bits', rank: 'ranks' } : {}),
    }).map(([value, name]) => el('option', { value, selected: value === state.below }, [name])),
  );

  const legend = el('p', { class: 'legend quiet' });
  function drawLegend() {
    const sample = (name, share, text) => {
      const node = el('span', { class: `token ${name}` }, [text]);
      node.style.setProperty('--share', share);
      return node;
    };
    if (state.colour === 'tokens') {
      legend.replaceChildren(
        ...[0, 1, 2, 3].map((i) => sample(`tone-${i}`, 0, 'token')),
        ' colours only distinguish neighbours ',
        ...[1, 2]
          .filter((kind) => tokens.some((token) => token.kind === kind))
          .map((kind) => sample(['', 'tone-0 special', 'tone-0 unknown'][kind], 0, kinds[kind])),
      );
    } else if (state.colour === 'surprise') {
      legend.replaceChildren(
        'bits: ',
        ...[0, 3, 6, 10, 15].map((x) => sample('shaded', (x / 15).toFixed(2), x === 15 ? '15 or more' : String(x))),
      );
    } else {
      legend.replaceChildren(
        'rank: ',
        ...[1, 10, 100, 1000, 10000].map((x, i) =>
          sample('shaded', (i / 4).toFixed(2), x === 10000 ? '10,000 or more' : x.toLocaleString('en')),
        ),
      );
    }
  }

  function show(view) {
    state.view = view;
    viewChoice.value = view;
    textPart.hidden = view !== 'text';
    tableView.hidden = view !== 'table';
    if (view === 'table' && rows === 0) addRows();
    keepState();
  }

  function keepState() {
    writeHash({ ...state, colour: scored ? state.colour : null, unit: state.unit === 'token' ? null : state.unit });
  }

  function totals() {
    if (!scored) {
      const unknown = tokens.filter((token) => token.kind === 2).length;
      return [counted(tokens.length, 'token', 'tokens') + (unknown ? `, ${unknown} unknown` : '')];
    }
    const {
      tokens: count,
      nats_per_token: nats,
      perplexity,
      pseudo_perplexity: pseudo,
      bits_per_byte: perByte,
      of,
    } = given.scored;
    return [
      `${counted(count, 'token', 'tokens')} scored; ${nats.toFixed(4)} nats per token; ${perplexity === undefined ? 'pseudo-perplexity' : 'perplexity'} ${(perplexity ?? pseudo).toPrecision(5)}${perByte === undefined ? '' : `; ${perByte.toFixed(4)} bits per byte`}.`,
      ` Probabilities are those of ${of}.`,
    ];
  }

  // Tokens, words or lines with the sum of their bits. A word begins after white space, a line after its end.
  function partsBy(unit) {
    const parts = [];
    tokens.forEach((token, i) => {
      const before = i > 0 && tokens[i - 1].text === token.text ? tokens[i - 1].shown : '\n';
      const begins =
        unit === 'token' ||
        (unit === 'word' ? /^\s/.test(token.gap + token.shown) || /\s$/.test(before) : before.endsWith('\n')) ||
        token.place === 0;
      if (begins) parts.push({ first: i, text: '', bits: 0, scored: false });
      const part = parts.at(-1);
      part.text += (part.first === i ? '' : token.gap) + (token.shown || token.piece);
      part.bits += token.surprise ?? 0;
      part.scored ||= token.surprise !== null;
    });
    return parts.filter(({ scored: any }) => any);
  }

  const ranking = el('ol', { class: 'surprising' });
  function drawRanking() {
    const order = partsBy(state.unit)
      .sort((a, b) => b.bits - a.bits || a.first - b.first)
      .slice(0, 10);
    const shownOf = (text) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
    ranking.replaceChildren(
      ...order.map(({ first, text, bits: sum }) =>
        el('li', {}, [
          el(
            'button',
            {
              type: 'button',
              class: 'plain',
              onclick: () => {
                show('text');
                choose(first);
              },
            },
            [bdi(visible(shownOf(text.trim() || text)), { class: 'piece' })],
          ),
          state.unit === 'token' ? ` ${bits(sum)}, rank ${tokens[first].rank.toLocaleString('en')}` : ` ${bits(sum)}`,
        ]),
      ),
    );
  }

  function mostSurprising() {
    drawRanking();
    const units = { token: 'Tokens', word: 'Words', line: 'Lines' };
    return el('details', { open: true }, [
      el('summary', {}, ['The most surprising tokens']),
      choice('Sums by', units, state.unit, (unit) => {
        state.unit = unit;
        drawRanking();
        keepState();
      }),
      ranking,
    ]);
  }

  // Bits along the text, as a line; a click chooses the token there.
  const cursor = svgElement('line', { y1: 0, y2: 100 });
  function sparkline() {
    const most = Math.max(1, ...tokens.map(({ surprise }) => surprise ?? 0));
    const step = Math.max(1, tokens.length / 1500);
    let path = '';
    for (let at = 0; at < tokens.length; at += step) {
      const some = tokens.slice(Math.floor(at), Math.max(Math.floor(at) + 1, Math.floor(at + step)));
      const y = 98 - (96 * Math.max(...some.map(({ surprise }) => surprise ?? 0))) / most;
      path += `${path ? 'L' : 'M'}${(at + 0.5).toFixed(1)} ${y.toFixed(1)}`;
    }
    return svgElement(
      'svg',
      {
        class: 'sparkline',
        viewBox: `0 0 ${tokens.length} 100`,
        preserveAspectRatio: 'none',
        role: 'img',
        'aria-label': `Surprise along the text: at most ${bits(most)}`,
        onclick: (event) => {
          const box = event.currentTarget.getBoundingClientRect();
          choose(Math.min(tokens.length - 1, Math.floor(((event.clientX - box.left) / box.width) * tokens.length)));
        },
      },
      [svgElement('path', { d: path }), cursor],
    );
  }
  function moveCursor() {
    cursor.setAttribute('visibility', state.token === null ? 'hidden' : 'visible');
    for (const name of ['x1', 'x2']) cursor.setAttribute(name, (state.token ?? 0) + 0.5);
  }

  const textPart = el('div', { class: 'text-part' }, [
    el('div', {}, [legend, scored ? sparkline() : null, textView]),
    details,
  ]);

  document.getElementById('main').replaceChildren(
    pageHeader(scored ? 'Surprise, token by token' : 'Text as tokens', [
      bdi(given.name),
      `, ${given.tokenizer} tokenizer, ${counted(given.vocabulary, 'piece', 'pieces')}`,
    ]),
    el('p', {}, totals()),
    el('div', { class: 'controls' }, [
      viewChoice,
      scored ? colourChoice : null,
      field('Below each token', belowChoice),
      el('span', { class: 'search', role: 'search' }, [
        searchField,
        button('‹', () => visit(-1), { 'aria-label': 'Previous match' }),
        button('›', () => visit(1), { 'aria-label': 'Next match' }),
        found,
      ]),
    ]),
    textPart,
    tableView,
    scored ? mostSurprising() : '',
    shortcuts([
      { keys: ['/'], does: 'search', run: () => searchField.focus() },
      { keys: ['n', 'N'], does: 'next, previous match', run: (key) => visit(key === 'n' ? 1 : -1) },
      { keys: ['v'], does: 'text or table', run: () => show(state.view === 'text' ? 'table' : 'text') },
    ]),
    pageFooter(
      [
        'In a text, the arrow keys move from token to token. ␣ is a space, ↵ a line end, ⇥ a tab; ‥ is the rest of a character that began in the token before; \\xHH is a byte that is no printable character.',
        ...(scored
          ? [
              'Surprise is −log₂ p in bits; rank 1 is the most probable token; expected surprise is the entropy of the distribution. Values are rounded to four decimals.',
            ]
          : []),
        `The page has ${counted(tokens.length, 'token', 'tokens')}${scored ? ', and of the distributions only the most probable tokens' : ''}.`,
      ],
      given.generator,
    ),
  );
  drawText();
  drawLegend();
  showDetails();
  show(state.view);
  if (asked) nodes[state.token]?.scrollIntoView({ block: 'nearest' });
  document.getElementById('main').setAttribute('aria-busy', 'false');
}
