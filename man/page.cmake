# cmake -DSOURCE=NAME.scd -DPAGE=NAME.1 -DVERSION=… -DSCDOC=program [-DTOOL=program [-DVERB=verb]] -P page.cmake: fills in
# @OPTIONS@, which the tool itself prints, @ENVIRONMENT@ and @VERSION@, and has scdoc write the page.
cmake_minimum_required(VERSION 3.25)
file(READ ${SOURCE} page)
if(DEFINED TOOL)
  execute_process(COMMAND ${TOOL} ${VERB} --help-man OUTPUT_VARIABLE options COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${CMAKE_CURRENT_LIST_DIR}/environment.scd environment)
  string(STRIP "${options}" options)
  string(STRIP "${environment}" environment)
  string(REPLACE "@ENVIRONMENT@" "${environment}" page "${page}")
  string(REPLACE "@OPTIONS@" "${options}" page "${page}")
  # @HELP:TOPIC@ is what --help=TOPIC prints, as it is.
  while(page MATCHES "@HELP:([a-z]+)@")
    set(topic ${CMAKE_MATCH_1})
    execute_process(COMMAND ${TOOL} ${VERB} --help=${topic} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "@HELP:${topic}@" "```\n${text}```" page "${page}")
  endwhile()
endif()
string(REPLACE "@VERSION@" "${VERSION}" page "${page}")
file(WRITE ${PAGE}.scd "${page}")

# Equal sources make equal pages on any day: scdoc dates a page with this variable, or with today.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  set(ENV{SOURCE_DATE_EPOCH} 1795305600)  # 2026-11-22
endif()
execute_process(COMMAND ${SCDOC} INPUT_FILE ${PAGE}.scd OUTPUT_VARIABLE page COMMAND_ERROR_IS_FATAL ANY)

# A plain - is a hyphen for some formatters, which is not what a shell wants, and lines may be broken at it.
string(FIND "${page}" "\n.SH" body)
string(SUBSTRING "${page}" 0 ${body} head)
string(SUBSTRING "${page}" ${body} -1 body)
string(REPLACE "-" "\\-" body "${body}")
file(WRITE ${PAGE} "${head}${body}")
