// Walks through the readings of a map: a choice for each question, or a slider from the reading in which most holds.
addEventListener("DOMContentLoaded", () => {
  const section = document.getElementById("walk");
  const { questions, places, claims, readings } = JSON.parse(document.getElementById("walk-data").textContent);
  const choices = [...section.querySelectorAll("select")];
  const slider = document.getElementById("walk-slider");
  const ways = questions.length - 2; // the last two are views, which every reading has
  const words = { h: "holds", f: "fails", o: "open", "–": "–" };
  const view = () => +choices[ways].value * places.length + +choices[ways + 1].value;
  const held = (reading) => [...reading.verdicts[view()]].filter((letter) => letter === "h").length;
  const differs = (reading, wanted) => reading.answers.reduce((sum, answer, k) => sum + (answer !== wanted[k]), 0);
  let order = [];

  const sort = () => {
    order = readings.map((_, k) => k).sort((a, b) => held(readings[b]) - held(readings[a]) || a - b);
  };
  const cell = (tag, text, name) => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (name) made.className = name;
    return made;
  };
  const fill = (id, rows) => document.getElementById(id).replaceChildren(...rows.map((cells) => {
    const row = document.createElement("tr");
    row.append(...cells);
    return row;
  }));

  /// Shows a reading; `wanted` are the answers that were asked for.
  const show = (at, wanted) => {
    const reading = readings[at];
    const others = wanted.flatMap((answer, k) => answer === reading.answers[k] ? []
      : [`${questions[k].name}: ${questions[k].levels[reading.answers[k]]}`]);
    section.dataset.reading = at;
    slider.value = order.indexOf(at);
    document.getElementById("walk-said").textContent = `${held(reading)} of ${claims.length} hold. `
      + (others.length ? `These answers were not run together; the nearest reading that was differs in ${others.join("; ")}.` : "This reading was run.");
    const letters = reading.verdicts[view()];
    fill("walk-verdicts", claims.map((claim, k) => [cell("th", claim), cell("td", words[letters[k]], `walk-${letters[k]}`),
      cell("td", words[reading.theory[k]], `walk-${reading.theory[k]}`)]));
    const place = places.length - 1 - +choices[ways + 1].value; // numbers are by ascending place
    const number = (values) => values && values[place] !== null ? values[place].toPrecision(4) : "diverged";
    const methods = Object.keys(reading.loss["multi-sub-ring"]);
    fill("walk-values", methods.map((method) => [cell("th", method),
      ...["multi-sub-ring", "exponential"].flatMap((graph) => [reading.loss, reading.gradient].map((of) => cell("td", number(of[graph][method]), "number")))]));
  };
  const asked = () => choices.slice(0, ways).map((choice) => +choice.value);
  const nearest = (wanted) => readings.reduce((best, reading, k) => differs(reading, wanted) < differs(readings[best], wanted) ? k : best, 0);
  const choose = () => { sort(); const wanted = asked(); show(nearest(wanted), wanted); };
  choices.forEach((choice) => choice.addEventListener("change", choose));
  slider.addEventListener("input", () => {
    const at = order[+slider.value];
    readings[at].answers.forEach((answer, k) => { choices[k].value = answer; });
    show(at, readings[at].answers);
  });
  choose();
});
