# heddle_module(base HEADERS ... SOURCES ... TESTS ... DEPENDS core ... LIBRARIES fmt::fmt ...)
#
# One static library heddle_<name> (slashes become underscores) and, when TESTS are given, one test
# program heddle_<name>_tests, known to CTest under the module's name.
#   HEADERS    headers of the module; each is also compiled alone (all_verify_interface_header_sets)
#   SOURCES    .cpp files
#   TESTS      *_test.cpp files (doctest)
#   DEPENDS    modules whose headers this module's headers or sources include
#   LIBRARIES  outside libraries, used in .cpp files only
#   TEST_LIBRARIES, TEST_DEPENDS   what only the tests need
set(HEDDLE_SRC ${CMAKE_CURRENT_SOURCE_DIR}/src)

function(heddle_module name)
  cmake_parse_arguments(M "" "" "HEADERS;SOURCES;TESTS;DEPENDS;LIBRARIES;TEST_LIBRARIES;TEST_DEPENDS" ${ARGN})
  string(REPLACE "/" "_" flat ${name})
  set(target heddle_${flat})
  set(depends "")
  foreach(other ${M_DEPENDS})
    string(REPLACE "/" "_" other_flat ${other})
    list(APPEND depends heddle_${other_flat})
  endforeach()

  if(M_SOURCES)
    add_library(${target} STATIC ${M_SOURCES})
    set(visibility PUBLIC)
    target_link_libraries(${target} PRIVATE ${M_LIBRARIES})
  else()
    add_library(${target} INTERFACE)
    set(visibility INTERFACE)
  endif()
  set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  target_sources(${target} ${visibility} FILE_SET HEADERS BASE_DIRS ${HEDDLE_SRC} FILES ${M_HEADERS})
  target_link_libraries(${target} ${visibility} ${depends})

  if(M_TESTS)
    set(test_depends "")
    foreach(other ${M_TEST_DEPENDS})
      string(REPLACE "/" "_" other_flat ${other})
      list(APPEND test_depends heddle_${other_flat})
    endforeach()
    add_executable(${target}_tests ${M_TESTS})
    target_link_libraries(${target}_tests PRIVATE ${target} heddle_test_main ${test_depends} ${M_TEST_LIBRARIES})
    add_test(NAME ${name} COMMAND ${target}_tests --no-intro --no-version)
    set_property(GLOBAL APPEND PROPERTY HEDDLE_TEST_PROGRAMS ${target}_tests)
  endif()
endfunction()
