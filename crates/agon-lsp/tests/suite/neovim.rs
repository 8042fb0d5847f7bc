//! A real editor: Neovim without a screen, where it is installed.

use std::process::Command;

use super::GAME;
use super::stdio::program;

/// Opens a file, waits for diagnostics, asks for a hover, renames and formats.
const SCRIPT: &str = r#"
local out = {}
local function say(...) table.insert(out, table.concat({...}, ' ')) end
local id = vim.lsp.start_client({ cmd = { vim.env.AGON_LSP }, root_dir = vim.fn.getcwd() })
vim.cmd('edit ' .. vim.env.AGON_FILE)
vim.lsp.buf_attach_client(0, id)
vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end, 20)
for _, one in ipairs(vim.diagnostic.get(0)) do
  say('diagnostic', one.lnum, one.user_data and one.user_data.lsp.code or one.code or '')
end
local function ask(method, extra)
  local params = vim.tbl_extend('force', {
    textDocument = vim.lsp.util.make_text_document_params(),
    position = { line = 6, character = 6 },
  }, extra or {})
  local answers = vim.lsp.buf_request_sync(0, method, params, 20000)
  return answers and answers[id] and answers[id].result
end
say('hover', vim.inspect(ask('textDocument/hover')))
local edit = ask('textDocument/rename', { position = { line = 8, character = 6 }, newName = 'after' })
vim.lsp.util.apply_workspace_edit(edit, 'utf-16')
local edits = ask('textDocument/formatting', { options = { tabSize = 4, insertSpaces = true } })
vim.lsp.util.apply_text_edits(edits, 0, 'utf-16')
say(table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'))
vim.fn.writefile(vim.split(table.concat(out, '\n'), '\n'), vim.env.AGON_OUT)
vim.cmd('qa!')
"#;

#[test]
fn neovim_shows_diagnostics_renames_and_formats() {
    if Command::new("nvim").arg("--version").output().is_err() {
        println!("SKIPPED: Neovim is not installed");
        return;
    }
    let folder = std::env::temp_dir().join(format!("agon-neovim-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let (script, file, out) =
        (folder.join("test.lua"), folder.join("race.kif"), folder.join("out.txt"));
    std::fs::write(&script, SCRIPT).expect("a file");
    let text = GAME.replace("(succ 1 2)", "( succ  1 2 )").replace("(succ 2 3)", "(<= (succ 2 3))");
    std::fs::write(&file, &text).expect("a file");
    let status = Command::new("nvim")
        .args(["--headless", "-u", "NONE", "-i", "NONE", "-n", "-c"])
        .arg(format!("luafile {}", script.display()))
        .env("AGON_LSP", program())
        .env("AGON_FILE", &file)
        .env("AGON_OUT", &out)
        .env("HOME", &folder)
        .status()
        .expect("Neovim starts");
    assert!(status.success(), "{status}");
    let shown = std::fs::read_to_string(&out).expect("the script has written its result");
    let _ = std::fs::remove_dir_all(&folder);
    assert!(shown.contains("diagnostic 20 empty-body"), "{shown}");
    assert!(shown.contains("may make the move"), "{shown}");
    assert!(shown.contains("(after 1 2)\n(<= (after 2 3))\n(after 3 4)"), "{shown}");
}
