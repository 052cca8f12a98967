'use strict';

// What the words of texts contribute to a model's answers: shaded in the text, and ranked.
{
  const given = data();
  const state = { text: '0', answer: '0', ...readHash() };
  const within = (value, count) => String(Math.min(Math.max(0, Number(value) || 0), count - 1));

  const textOf = () => given.texts[state.text];
  const answerOf = () => textOf().answers[state.answer];
  const signed = (x) => (x < 0 ? '−' : '+') + Math.abs(x).toFixed(2);
  const number = (x) => String(Number(x.toPrecision(4))).replace('-', '−');

  function nameOf(answer) {
    if (answer.of) return `${answer.place}. ${answer.of}: ${answer.answer}`;
    return answer.place ? `${answer.place}. ${answer.answer}` : answer.answer;
  }

  function selectOf(name, count, label, change) {
    const options = Array.from({ length: count }, (_, i) => el('option', { value: i }, [label(i)]));
    const control = el('select', { onchange: () => change(control.value) }, options);
    return { control, node: count > 1 ? field(name, control) : null };
  }

  const textChoice = selectOf(
    'Text',
    given.texts.length,
    (i) => `${i + 1}. ${nameOf(given.texts[i].answers[0] ?? { answer: 'no answer' })}`,
    (value) => {
      state.text = value;
      state.answer = '0';
      draw();
    },
  );
  const answers = el('span', { class: 'field' });
  const words = el('div', { class: 'text', dir: 'auto' });
  const ranked = el('tbody');
  const summary = el('p', { role: 'status' });
  const target = el('p', { dir: 'auto' });

  function wordNode(i, largest, contribution) {
    const node = el('span', { class: contribution < 0 ? 'word against' : 'word', id: `word-${i}` }, [
      bdi(textOf().words[i][1]),
      el('span', { class: 'below' }, [signed(contribution)]),
    ]);
    node.style.setProperty('--share', (largest > 0 ? Math.abs(contribution) / largest : 0).toFixed(3));
    return node;
  }

  // The row of a word and the word in the text show each other.
  function mark(i, on) {
    document.getElementById(`word-${i}`)?.classList.toggle('hit', on);
  }

  function rowOf(i, largest, contribution) {
    const bar = el('span', { class: contribution < 0 ? 'against' : null });
    bar.style.width = `${largest > 0 ? (50 * Math.abs(contribution)) / largest : 0}%`;
    return el('tr', { onpointerenter: () => mark(i, true), onpointerleave: () => mark(i, false) }, [
      el('td', {}, [bdi(textOf().words[i][1])]),
      el('td', { class: 'numbers' }, [signed(contribution)]),
      el('td', { 'aria-hidden': 'true' }, [el('div', { class: 'bar' }, [bar])]),
    ]);
  }

  function sentence(answer) {
    const parts = [`${given.value} ${number(answer.value)}`];
    if (answer.probability !== undefined) parts.push(`probability ${number(answer.probability)}`);
    if (answer.base !== undefined) parts.push(`without the words ${number(answer.base)}`);
    if (answer.steps) parts.push(`${answer.steps} steps leave ${number(answer.gap)}`);
    return ` ${parts.join(', ')}`;
  }

  function drawAnswers() {
    const choices = selectOf(
      'Answer',
      textOf().answers.length,
      (i) => nameOf(textOf().answers[i]),
      (value) => {
        state.answer = value;
        draw();
      },
    );
    choices.control.value = state.answer;
    answers.replaceChildren(choices.node ?? '');
  }

  function draw() {
    state.text = within(state.text, given.texts.length);
    state.answer = within(state.answer, textOf().answers.length);
    textChoice.control.value = state.text;
    drawAnswers();
    const answer = answerOf();
    target.hidden = !textOf().target;
    target.replaceChildren(el('span', { class: 'quiet' }, ['Translation: ']), bdi(textOf().target));
    writeHash(state);
    if (!answer) return;
    const { contributions } = answer;
    const largest = Math.max(0, ...contributions.map(Math.abs));
    summary.replaceChildren(el('strong', {}, [bdi(nameOf(answer))]), sentence(answer));
    words.replaceChildren(
      ...contributions.flatMap((contribution, i) => {
        const [gap, , isSecond] = textOf().words[i];
        const begins = i > 0 && isSecond && !textOf().words[i - 1][2];
        return [begins ? el('br') : null, gap, wordNode(i, largest, contribution)].filter((each) => each !== null);
      }),
      textOf().end,
    );
    const order = contributions
      .map((_, i) => i)
      .sort((a, b) => Math.abs(contributions[b]) - Math.abs(contributions[a]));
    ranked.replaceChildren(...order.slice(0, 100).map((i) => rowOf(i, largest, contributions[i])));
  }

  const step = (by) => {
    state.answer = within(Number(state.answer) + by, textOf().answers.length);
    draw();
    announce(nameOf(answerOf()));
  };

  document
    .getElementById('main')
    .replaceChildren(
      pageHeader('Why this answer', [bdi(given.name), `, ${given.method}`]),
      el('div', { class: 'controls' }, [textChoice.node, answers]),
      target,
      summary,
      el('div', { class: 'parts' }, [
        words,
        el('table', { class: 'ranked' }, [
          el('caption', { class: 'unseen' }, ['Words, the largest contribution first']),
          el('thead', {}, [
            el('tr', {}, [
              el('th', { scope: 'col' }, ['word']),
              el('th', { scope: 'col', class: 'numbers' }, ['adds']),
              el('td', { 'aria-hidden': 'true' }),
            ]),
          ]),
          ranked,
        ]),
      ]),
      shortcuts([{ keys: ['[', ']'], does: 'previous, next answer', run: (key) => step(key === ']' ? 1 : -1) }]),
      pageFooter(
        [
          'Orange words, with +, speak for the answer; blue words, with −, against it.' +
            (given.sums ? ' Their sum, with the value without the words, is the value.' : ''),
        ],
        given.generator,
      ),
    );
  draw();
  document.getElementById('main').setAttribute('aria-busy', 'false');
}
