# `count` random strings of `bits` bits (20), from `seed`, as `kind` says: text (bits, = and :), prompts, answers, or records
# of the prompt with its answer (plain) and the parities of all its beginnings (steps).
BEGIN {
  srand(seed)
  if (!bits) bits = 20
  for (n = 0; n < count; ++n) {
    prompt = steps = ""
    parity = 0
    for (i = 0; i < bits; ++i) {
      bit = rand() < 0.5 ? 0 : 1
      parity = (parity + bit) % 2
      prompt = prompt bit
      steps = steps parity
    }
    if (kind == "text") print prompt "=:"
    else if (kind == "prompts") print prompt "="
    else if (kind == "answers") print parity
    else if (kind == "plain") printf "{\"prompt\":\"%s=\",\"answer\":\"%d\"}\n", prompt, parity
    else printf "{\"prompt\":\"%s=\",\"steps\":\"%s\",\"answer\":\"%d\"}\n", prompt, steps, parity
  }
}
