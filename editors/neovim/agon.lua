-- Agon for Neovim: file types, highlighting by semantic tokens, and the language server.
-- Copy this file to ~/.config/nvim/plugin/. It works with Neovim 0.7 or newer.

local function detect(patterns, filetype)
  vim.api.nvim_create_autocmd({ 'BufRead', 'BufNewFile' }, {
    pattern = patterns,
    callback = function() vim.bo.filetype = filetype end,
  })
end
detect({ '*.kif', '*.gdl', '*.infix' }, 'gdl')
detect({ '*.toss' }, 'toss')

local command = { vim.g.agon_program or 'agon', 'lsp' }

-- "play" opens a terminal; the other lenses are answered by the server.
if vim.lsp.commands then
  vim.lsp.commands['agon.play'] = function(lens)
    local path = vim.uri_to_fname(lens.arguments[1])
    vim.cmd('botright split | terminal ' .. command[1] .. ' play ' .. vim.fn.shellescape(path))
  end
end

local client

local function attach(event)
  local buffer = event and event.buf or vim.api.nvim_get_current_buf()
  local name = vim.api.nvim_buf_get_name(buffer)
  local root = vim.fn.fnamemodify(name, ':h')
  if vim.lsp.start then
    vim.lsp.start({ name = 'agon', cmd = command, root_dir = root }, { bufnr = buffer })
  else
    client = client or vim.lsp.start_client({ name = 'agon', cmd = command, root_dir = root })
    vim.lsp.buf_attach_client(buffer, client)
  end
  local comment = vim.bo[buffer].filetype == 'toss' and '// %s' or '; %s'
  vim.bo[buffer].commentstring = comment
end

vim.api.nvim_create_autocmd('FileType', { pattern = { 'gdl', 'toss' }, callback = attach })
