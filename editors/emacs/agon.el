;;; agon.el --- GDL and Toss with the Agon language server -*- lexical-binding: t; -*-

;; Needs Emacs 29 or newer, or Emacs 28 with the package eglot, and the program `agon' in the path.
;; License: MIT OR Apache-2.0

;;; Commentary:

;; Major modes for rulesheets in GDL (KIF and infix) and for structure rewriting games.  `eglot'
;; gives diagnostics, completion, documentation, renaming and formatting.

;;; Code:

(require 'eglot)

(defgroup agon nil "General game playing with Agon." :group 'languages)

(defcustom agon-program "agon" "The Agon program." :type 'string)

(defconst agon-gdl-keywords
  '("role" "init" "true" "does" "next" "legal" "goal" "terminal" "base" "input" "sees"
    "percept" "distinct" "not" "or" "and"))

(defconst agon-toss-keywords
  '("PLAYERS" "REL" "RULE" "LOC" "PAYOFF" "START" "MODEL" "STATE" "DATA" "PLAYER" "MOVES" "EDGES"
    "ELEMS" "MATCH" "RELS" "emb" "pre" "post" "inv" "dynamics" "update" "before" "with" "ex" "all"
    "and" "or" "not" "let" "in" "tc" "lfp" "gfp" "true" "false"))

;;;###autoload
(define-derived-mode agon-gdl-mode lisp-data-mode "GDL"
  "Major mode for game rules in GDL."
  (setq-local comment-start "; ")
  (setq-local font-lock-defaults
              `(((,(regexp-opt agon-gdl-keywords 'symbols) . font-lock-keyword-face)
                 ("\\?[^[:space:]()]*" . font-lock-variable-name-face)
                 ("<=\\|:-" . font-lock-keyword-face))
                nil t)))

;;;###autoload
(define-derived-mode agon-toss-mode prog-mode "Toss"
  "Major mode for structure rewriting games."
  (setq-local comment-start "// ")
  (modify-syntax-entry ?/ ". 12" (syntax-table))
  (modify-syntax-entry ?\n ">" (syntax-table))
  (setq-local font-lock-defaults
              `(((,(regexp-opt agon-toss-keywords 'symbols) . font-lock-keyword-face)))))

;;;###autoload
(progn
  (add-to-list 'auto-mode-alist '("\\.\\(?:kif\\|gdl\\|infix\\)\\'" . agon-gdl-mode))
  (add-to-list 'auto-mode-alist '("\\.toss\\'" . agon-toss-mode)))

(add-to-list 'eglot-server-programs
             `((agon-gdl-mode agon-toss-mode) . (,agon-program "lsp")))
(add-hook 'agon-gdl-mode-hook #'eglot-ensure)
(add-hook 'agon-toss-mode-hook #'eglot-ensure)

(provide 'agon)
;;; agon.el ends here
