# A room is an object library that sees the doors in include/ and its own folder, nothing else: the compiler keeps the
# walls, tests/rooms_test keeps the floors.
#
#   fmsim_room(engine PACKAGES fmt::fmt SOURCES run.cpp ...)
function(fmsim_room name)
    cmake_parse_arguments(PARSE_ARGV 1 room "" "" "SOURCES;PACKAGES")
    add_library(fmsim_${name} OBJECT ${room_SOURCES})
    target_include_directories(fmsim_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(fmsim_${name} PRIVATE fmsim_flags ${room_PACKAGES})
    set_property(GLOBAL APPEND PROPERTY FMSIM_ROOMS ${name})
endfunction()
