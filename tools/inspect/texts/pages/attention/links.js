// The strongest links as a table, beside a picture: what the picture shows, for those who read rather than look.
function linksPanel(group, name = 'Strongest links') {
  const limit = 12;
  const heading = el('h2', {}, [name]);
  const about = el('p', { class: 'quiet' });
  const body = el('tbody');
  const headColumn = el('th', { scope: 'col', class: 'numbers' }, ['Head']);
  const hides = hideControl(group);
  const label = group.side === null ? name : `${name}: ${group.side}`;
  const frame = el('aside', { class: 'side', 'aria-label': label }, [
    heading,
    about,
    hides.frame,
    el('div', { class: 'scrolls' }, [
      el('table', { class: 'links' }, [
        el('caption', { class: 'unseen' }, [name]),
        el('thead', {}, [
          el('tr', {}, [
            headColumn,
            el('th', { scope: 'col' }, ['Query']),
            el('th', { scope: 'col' }, ['Key']),
            el('th', { scope: 'col', class: 'numbers' }, ['Weight']),
          ]),
        ]),
        body,
      ]),
    ]),
  ]);

  function cell(token, side) {
    return el('td', {}, [
      el(
        'button',
        {
          type: 'button',
          class: 'link',
          onclick: () => update({ [side]: token.position }),
          'aria-label': `${side} ${tokenText(token)}`,
        },
        [el('span', { class: 'position numbers' }, [String(token.position + 1)]), ' ', tokenNode(token)],
      ),
    ]);
  }

  function show(weights, heads, { query = null, key = null } = {}, single = false) {
    const token = query !== null ? group.query.tokens[query] : key !== null ? group.key.tokens[key] : null;
    about.replaceChildren(
      ...(token
        ? [
            query !== null ? 'Query ' : 'Key ',
            tokenNode(token),
            ` · position ${token.position + 1} · id ${token.id} · piece `,
            bdi(token.piece),
          ]
        : [
            `Layer ${group.layers[state.layer].number}`,
            heads.length === 1 && !single ? `, head ${heads[0] + 1}` : '',
            group.causal && group.queries > 1 ? '; the first query has no choice and is left out' : '',
          ]),
    );
    headColumn.hidden = single;
    hides.show();
    keepingFocus(body, () =>
      body.replaceChildren(
        ...weights
          .strongest(heads, limit, { query, key }, (i, j) => isHidden(group, i, j))
          .map((link) =>
            el('tr', {}, [
              single ? null : el('td', { class: 'numbers' }, [swatch(link.head), String(link.head + 1)]),
              cell(group.query.tokens[link.query], 'query'),
              cell(group.key.tokens[link.key], 'key'),
              el('td', { class: 'numbers' }, [weightText(link.weight)]),
            ]),
          ),
      ),
    );
  }
  return { frame, show };
}

// Switches for pairs that say little, of those that the texts have.
function hideControl(group) {
  const shown = panesOf(group);
  const kinds = new Set(shown.flatMap(({ query, key }) => [...query.tokens, ...key.tokens]).map(kindOf));
  const isSplit = shown.some(({ split }) => split !== null);
  const inputs = Object.keys(hideNames)
    .filter((name) => (name === 'self' ? group.within : kinds.has(name)))
    .map((name) =>
      el('input', {
        type: 'checkbox',
        value: name,
        onchange: ({ target }) =>
          update({ hide: target.checked ? [...state.hide, name] : state.hide.filter((each) => each !== name) }),
      }),
    );
  const way = el(
    'select',
    { class: 'small', onchange: () => update({ way: way.value }) },
    Object.entries(wayNames).map(([value, name]) => el('option', { value }, [name])),
  );
  const frame = el('fieldset', { class: 'hides' }, [
    el('legend', { class: 'name' }, ['Leave out']),
    ...inputs.map((input) => el('label', {}, [input, ' ', hideNames[input.value]])),
    isSplit ? field('Links', way) : null,
  ]);
  frame.hidden = inputs.length === 0 && !isSplit;
  return {
    frame,
    show: () => {
      way.value = state.way;
      for (const input of inputs) input.checked = state.hide.includes(input.value);
    },
  };
}

function swatch(head) {
  return el('span', { class: 'swatch', style: `background: var(${stroke(head).variable})`, 'aria-hidden': 'true' });
}
