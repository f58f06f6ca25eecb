# Installs BUILD below WORK, moves the result, and builds and runs CONSUMER against it. Any step that fails is an error.
function(step)
    execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE output)
    set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect text pattern)
    if(NOT text MATCHES "${pattern}")
        message(FATAL_ERROR "expected \"${pattern}\" in:\n${text}")
    endif()
endfunction()

# Into one folder, used from another: nothing may remember where it was installed.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(prefix ${WORK}/moved)
step(${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIG} --prefix ${WORK}/installed)
file(RENAME ${WORK}/installed ${prefix})

# What the manual promises to be there.
foreach(path bin/fmsim include/fmsim/predict.hpp share/fmsim/topologies/instances/p5.48xlarge.json
             share/fmsim/schemas/workload.json share/fmsim/workloads/all_reduce_1gib.json)
    if(NOT EXISTS ${prefix}/${path})
        message(FATAL_ERROR "not installed: ${path}")
    endif()
endforeach()
file(GLOB_RECURSE package_files ${prefix}/*.cmake)
foreach(file IN LISTS package_files)
    file(READ ${file} content)
    foreach(folder ${BUILD} ${WORK})
        if(content MATCHES "${folder}")
            message(FATAL_ERROR "${file} remembers ${folder}")
        endif()
    endforeach()
endforeach()

step(${prefix}/bin/fmsim --version)
expect("${output}" "^fmsim ${VERSION}")
step(${prefix}/bin/fmsim run ${prefix}/share/fmsim/workloads/all_reduce_1gib.json --cluster p5.48xlarge:2)
expect("${output}" "gradients")

set(flags "")
if(SANITIZE)
    set(flags "-fsanitize=${SANITIZE}")
endif()
step(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
     -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${flags} -DCMAKE_BUILD_TYPE=${CONFIG})
step(${CMAKE_COMMAND} --build ${WORK}/build --config ${CONFIG})
step(${WORK}/build/consumer)
expect("${output}" "^all-reduce of 1 GiB on 16 GPUs: [0-9.]+ us")
message(STATUS "${output}")
