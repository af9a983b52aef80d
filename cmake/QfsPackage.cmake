# A Debian package of the driver, by CPack: `cpack -G DEB` in a build folder. qfs-host is not in it: LibTorch is no
# Debian package of the version that it needs.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME qfs-bench)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The qfs-bench contributors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runs, measures and re-scores methods of query-focused summarization")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL driver)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_DRIVER_PACKAGE_NAME qfs-bench)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# What the program links, as dpkg-shlibdeps (dpkg-dev) reads it.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3, parallel, slurm-client")
include(CPack)
