# Writes OUTPUT, a C++ file that holds the given data files as text, so that the program needs no file of ours at run
# time. Run as a script: cmake -DROOT=... -DFILES=a;b -DOUTPUT=... -P embed.cmake
set(rows "")
foreach(file IN LISTS FILES)
    file(READ ${ROOT}/${file} content)
    # A string literal may hold 64 KiB by the standard; pieces are joined by the compiler.
    string(LENGTH "${content}" length)
    set(at 0)
    set(literal "")
    while(at LESS length)
        string(SUBSTRING "${content}" ${at} 8000 piece)
        string(APPEND literal "\n        R\"_fmsim_(${piece})_fmsim_\"")
        math(EXPR at "${at} + 8000")
    endwhile()
    string(APPEND rows "    {\"${file}\",${literal}},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"embedded.hpp\"\n\nnamespace fmsim {\n\nconst std::map<std::string, std::string>& embedded_files() {\n    static const std::map<std::string, std::string> kFiles{\n${rows}    };\n    return kFiles;\n}\n\n}  // namespace fmsim\n")
