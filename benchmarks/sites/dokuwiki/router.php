<?php
// Readable addresses for PHP's own server: /namespace/page, /_media/..., /_detail/..., /_export/....
$program = getenv('WIKI_PROGRAM');
$path = rawurldecode(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH));

$run = function (string $script, array $given) use ($program) {
    foreach ($given as $name => $value) {
        $_GET[$name] = $value;
        $_REQUEST[$name] = $value;
    }
    $_SERVER['QUERY_STRING'] = http_build_query($_GET);
    $_SERVER['SCRIPT_NAME'] = $script;
    $_SERVER['PHP_SELF'] = $script;
    $_SERVER['SCRIPT_FILENAME'] = $program . $script;
    unset($_SERVER['PATH_INFO']);
    chdir(dirname($program . $script));
    return $program . $script;
};

if (preg_match('#^/(data|conf|inc|bin|vendor)(/|$)|^/install\.php|/\.ht#', $path)) {
    http_response_code(403);
    echo 'Forbidden';
    return true;
}
if (preg_match('#^/(lib/.+|doku\.php|feed\.php|index\.php|favicon\.ico)$#', $path) && is_file($program . $path)) {
    return false;
}
if (preg_match('#^/lib/#', $path) || $path === '/favicon.ico') {
    http_response_code(404);
    echo 'Not found';
    return true;
}
if (preg_match('#^/_media/(.*)$#', $path, $part)) {
    require $run('/lib/exe/fetch.php', ['media' => $part[1]]);
    return true;
}
if (preg_match('#^/_detail/(.*)$#', $path, $part)) {
    require $run('/lib/exe/detail.php', ['media' => $part[1]]);
    return true;
}
if (preg_match('#^/_export/([^/]+)/(.*)$#', $path, $part)) {
    require $run('/doku.php', ['do' => 'export_' . $part[1], 'id' => $part[2]]);
    return true;
}
$id = trim($path, '/');
require $run('/doku.php', $id === '' ? [] : ['id' => str_ends_with($path, '/') ? $id . '/' : $id]);
return true;
