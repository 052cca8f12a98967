# cmake -DTOOL=program -DVERSION=… -DSOURCE=tool.1.in -DPAGE=tool.1 -P page.cmake: fills in the page's
# @OPTIONS@, @ENVIRONMENT@ and @VERSION@.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${TOOL} --help-man OUTPUT_VARIABLE options COMMAND_ERROR_IS_FATAL ANY)
string(STRIP "${options}" options)
file(READ ${CMAKE_CURRENT_LIST_DIR}/environment.in environment)
string(STRIP "${environment}" environment)
file(READ ${SOURCE} page)
string(REPLACE "@ENVIRONMENT@" "${environment}" page "${page}")
string(REPLACE "@OPTIONS@" "${options}" page "${page}")
string(REPLACE "@VERSION@" "${VERSION}" page "${page}")
file(WRITE ${PAGE} "${page}")
