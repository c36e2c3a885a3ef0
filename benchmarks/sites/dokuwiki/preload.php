<?php
// Each running wiki has its own folder of configuration and data, named by the environment.
if (!defined('DOKU_CONF')) {
    define('DOKU_CONF', getenv('WIKI_HOME') . '/conf/');
}
