"use strict";

// A size has to be chosen first.  The form says nothing about it: that is the habit of this site.
for (const form of document.querySelectorAll("form[data-needs-size]")) {
  form.addEventListener("submit", (event) => {
    if (!form.querySelector("input[name=size]:checked")) event.preventDefault();
  });
}

// The menu opens once the pointer has rested on it; a press on the opener shuts it.
for (const menu of document.querySelectorAll(".menu")) {
  const opener = menu.querySelector(".opener");
  let timer = 0;
  const show = (open) => {
    menu.classList.toggle("open", open);
    opener.setAttribute("aria-expanded", String(open));
  };
  menu.addEventListener("mouseenter", () => { timer = window.setTimeout(() => show(true), 250); });
  menu.addEventListener("mouseleave", () => { window.clearTimeout(timer); show(false); });
  opener.addEventListener("mousedown", () => { window.clearTimeout(timer); show(false); });
}

// News covers the page until it has been read once.
for (const backdrop of document.querySelectorAll(".backdrop")) {
  backdrop.querySelector("button").addEventListener("click", () => {
    document.cookie = `${backdrop.dataset.cookie}=seen; path=/`;
    backdrop.remove();
  });
}

for (const select of document.querySelectorAll("select[data-submits]")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}
