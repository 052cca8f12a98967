# `count` random problems a+b=, or a*b= with one digit b, as OPERATION in the environment says, of numbers of `least` to
# `most` digits (1 to 8), from `seed`, as `kind` says: text, prompts, answers, or records of the prompt with its answer
# (plain) and the steps to it (steps): what is left of the numbers, the carry and the digit that comes of their last ones
# (Nye et al. 2021, "Show your work"): 478+95 is 478+95,0>3 47+9,1>7 4+,1>5 and 573.
function digits(count,  i, text) {
  text = int(1 + 9 * rand())
  for (i = 1; i < count; ++i) text = text int(10 * rand())
  return text
}
function length_of() { return least + int(rand() * (most - least + 1)) }
function last(number) { return number == "" ? 0 : substr(number, length(number)) }
function rest(number) { return number == "" ? "" : substr(number, 1, length(number) - 1) }
BEGIN {
  srand(seed)
  multiplies = ENVIRON["OPERATION"] == "*"
  sign = multiplies ? "*" : "+"
  if (!most) { least = 1; most = 8 }
  for (n = 0; n < count; ++n) {
    a = digits(length_of())
    b = digits(multiplies ? 1 : length_of())
    prompt = a sign b "="
    steps = answer = ""
    for (carry = 0; a != "" || (!multiplies && b != "") || carry > 0; ) {
      sum = (multiplies ? last(a) * b : last(a) + last(b)) + carry
      steps = steps a sign b "," carry ">" sum % 10 " "
      answer = sum % 10 answer
      carry = int(sum / 10)
      a = rest(a)
      if (!multiplies) b = rest(b)
    }
    if (kind == "text") print prompt ",>: "
    else if (kind == "prompts") print prompt
    else if (kind == "answers") print answer
    else if (kind == "plain") printf "{\"prompt\":\"%s\",\"answer\":\"%s\"}\n", prompt, answer
    else printf "{\"prompt\":\"%s\",\"steps\":\"%s\",\"answer\":\"%s\"}\n", prompt, steps, answer
  }
}
